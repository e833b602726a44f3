/**
 * The types that whoever embeds the component names, and nothing at run time: those of the WIT as jco makes them, for a
 * store or jobs of one's own, and those of what is handed around here.
 *
 * @typedef {import('./component.js').Code<import('#server/component.js').Root>} ServerCode what `loadServer` gives
 * @typedef {import('./component.js').Context} Context
 * @typedef {import('./component.js').Outcome} Outcome
 * @typedef {import('./component.js').Parts} ComponentParts what a component is made of
 * @typedef {import('./connection.js').Endings} Endings
 * @typedef {import('./connection.js').Parts} ConnectionParts what a connection is made of
 * @typedef {import('./jobs/functions.js').Call} Call what a function as a job is given
 * @typedef {import('./jobs/functions.js').Run} Run a function as a job
 *
 * @typedef {import('./component.js').Store} Store the import `store`
 * @typedef {import('#server/interfaces/backburner-server-store.js').Change} Change
 * @typedef {import('#server/interfaces/backburner-server-store.js').Entry} Entry
 * @typedef {import('#server/interfaces/backburner-server-store.js').Versioned} Versioned
 *
 * @typedef {import('./component.js').Jobs} Jobs the import `jobs`
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').Fragment} Fragment
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').Spec} Spec
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').State} State
 * @typedef {import('#server/interfaces/backburner-server-jobs.js').StopReason} StopReason
 */

export {};
