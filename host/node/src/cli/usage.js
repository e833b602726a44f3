/** What is wrong with a command line, as can be seen in it alone. */
export class WrongUsage extends Error {}

/** Whether a command line asks for help: then nothing else of it is read, right or wrong. @param {string[]} args */
export function isHelpAsked(args) {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).includes('--help');
}
