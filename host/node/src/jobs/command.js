/** From a spec to a running command, and names for how it ends. */

import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

import { TASK_VARIABLE } from './processes.js';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { End, Spec } from './model.js' */

/** The variable with the job's directory, by which a process of the job finds where to ask. */
export const JOB_VARIABLE = 'BACKBURNER_JOB_DIRECTORY';

/**
 * Executes the command of a job, in a session and group of its own.
 *
 * @param {string} id
 * @param {Spec} spec
 * @param {string} job its directory
 * @returns {Promise<ChildProcess>} rejected in words that may be shown to who asked for the job
 */
export function execute(id, spec, job) {
  const environment = environmentOf(id, spec, job);
  const [program = '', ...words] = wordsOf(spec, environment.PATH ?? '');
  return new Promise((resolve, reject) => {
    const fail = (/** @type {any} */ error) => reject(new Error(explain(error, program, spec.directory)));
    try {
      const child = spawn(program, words, {
        cwd: spec.directory,
        env: environment,
        detached: true,
        stdio: [spec.stdin === '' ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      });
      child.on('error', fail).on('spawn', () => resolve(child));
      // The command need not read what it is given.
      child.stdin?.on('error', () => undefined).end(spec.stdin);
    } catch (error) {
      fail(error);
    }
  });
}

/** @param {string} id @param {Spec} spec @param {string} job */
function environmentOf(id, spec, job) {
  /** @type {NodeJS.ProcessEnv} */
  const environment = Object.assign(Object.create(null), process.env);
  for (const [name, value] of spec.environment) environment[name] = value;
  // Last: a job that named itself otherwise would not be found when its supervisor is lost.
  environment[TASK_VARIABLE] = id;
  environment[JOB_VARIABLE] = job;
  return environment;
}

/** @param {Spec} spec @param {string} searchPath */
function wordsOf({ command }, searchPath) {
  // The two dashes: a line that begins with one is a line and no option.
  return command.tag === 'program' ? command.val : [shell(searchPath), '-c', '--', command.val];
}

/**
 * bash where there is one, since that is what people and models write, else the system's own shell.
 *
 * @param {string} searchPath
 */
function shell(searchPath) {
  const named = searchPath.split(':').filter(isAbsolute);
  const places = [...named, '/bin', '/usr/bin', '/usr/local/bin'].map((place) => join(place, 'bash'));
  return places.find(isExecutable) ?? '/bin/sh';
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Why a command could not be executed, and what to do.
 *
 * @param {any} error
 * @param {string} name
 * @param {string} directory
 */
function explain(error, name, directory) {
  if (!isDirectory(directory)) return `the directory ${directory} does not exist any more; name another one`;
  if (error.code === 'ENOENT') return missing(name);
  if (error.code === 'EACCES') {
    return isDirectory(name)
      ? `${name} is a directory; name a program`
      : `${name} may not be executed; make it executable or name another program`;
  }
  if (error.code === 'E2BIG') return `the arguments and variables of ${name} are too long; pass them on stdin`;
  return `${name} cannot be executed: ${error.message}`;
}

/** @param {string} name */
function missing(name) {
  if (name.includes('/') && existsSync(name)) {
    return `the interpreter that ${name} names in its first line does not exist`;
  }
  if (/\s/.test(name)) {
    return `there is no program \`${name}\`; a shell line is given alone, without a list of arguments`;
  }
  if (name.includes('/')) return `there is no file ${name}`;
  return `there is no program ${name} on the PATH; install it or give its full path`;
}

/** @param {string} path */
function isDirectory(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * Resolves with how a command ends. Node does not tell whether there was a core dump.
 *
 * @param {ChildProcess} child
 * @returns {Promise<End>}
 */
export function endOf(child) {
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      if (signal === null) resolve({ tag: 'exited', val: { code: code ?? 0 } });
      else resolve({ tag: 'signalled', val: { signal, coreDumped: false } });
    });
  });
}
