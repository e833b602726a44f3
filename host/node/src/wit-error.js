/**
 * A failure that the interface knows. jco gives its `payload` to the component as the error of the call; any other
 * exception out of an import traps the component, which is right for a mistake of the host.
 *
 * @template {{ detail: string }} Payload
 */
export class WitError extends Error {
  /** @param {Payload} payload the error as the WIT has it */
  constructor(payload) {
    super(payload.detail);
    this.payload = payload;
  }
}
