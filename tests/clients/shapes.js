/**
 * Whether the messages of a server have the shapes that the official package of the Tasks extension gives them. The
 * conformance suite looks at some members of them; this looks at all of them, so that no schema is copied here.
 */

import {
  CallToolResultV2Schema,
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  ErrorV2Schema,
  GetTaskResultV2Schema,
  InputRequiredCallToolResultV2Schema,
  TaskStatusNotificationV2Schema,
  ToolV2Schema,
  UpdateTaskResultV2Schema,
  hasTaskServerCapabilityV2,
  isCreateTaskResultV2,
  isDetailedTaskV2,
  isTaskStatusNotificationV2,
} from '@modelcontextprotocol/ext-tasks/core/v2';

/** @typedef {{ safeParse(value: unknown): { success: boolean, error?: { message: string } } }} Schema */

/** @typedef {(value: unknown) => boolean} Guard */

/** The package's own guards of shapes that it has schemas of too. @type {[Schema, Guard][]} */
const GUARDED = [
  [CreateTaskResultV2Schema, isCreateTaskResultV2],
  [GetTaskResultV2Schema, isDetailedTaskV2],
  [TaskStatusNotificationV2Schema, isTaskStatusNotificationV2],
];
const GUARDS = new Map(GUARDED);

/**
 * What is wrong with a message of a server; nothing where it is right, or where the package says nothing of its kind.
 *
 * @param {any} message
 * @param {string | undefined} method that of the request, where the message is a reply
 * @returns {string | undefined}
 */
export function misshapen(message, method) {
  if (message.method === 'notifications/tasks') return misfit(message, TaskStatusNotificationV2Schema);
  if (message.method !== undefined) return undefined;
  if (message.error !== undefined) return misfit(message.error, ErrorV2Schema);
  return misshapenResult(message.result, method);
}

/** @param {any} result @param {string | undefined} method */
function misshapenResult(result, method) {
  switch (method) {
    case 'server/discover':
      return hasTaskServerCapabilityV2(result.capabilities) ? undefined : `${method}: no Tasks extension`;
    case 'tools/list':
      return result.tools.map((/** @type {unknown} */ tool) => misfit(tool, ToolV2Schema)).find(Boolean);
    case 'tools/call':
      return misfit(result, resultOfCall(result.resultType));
    case 'tasks/get':
      return misfit(result, GetTaskResultV2Schema) ?? misshapenOutcome(result);
    case 'tasks/update':
      return misfit(result, UpdateTaskResultV2Schema);
    case 'tasks/cancel':
      return misfit(result, CancelTaskResultV2Schema);
    default:
      return undefined;
  }
}

/** A completed task has in it what the call would have given. @param {any} task */
function misshapenOutcome(task) {
  return task.status === 'completed' ? misfit(task.result, CallToolResultV2Schema) : undefined;
}

/** @param {unknown} resultType @returns {Schema} */
function resultOfCall(resultType) {
  if (resultType === 'task') return CreateTaskResultV2Schema;
  return resultType === 'input_required' ? InputRequiredCallToolResultV2Schema : CallToolResultV2Schema;
}

/** @param {unknown} value @param {Schema} schema */
function misfit(value, schema) {
  const parsed = schema.safeParse(value);
  const isRight = parsed.success && (GUARDS.get(schema)?.(value) ?? true);
  return isRight ? undefined : `${JSON.stringify(value)}: ${parsed.error?.message ?? 'the guard says no'}`;
}
