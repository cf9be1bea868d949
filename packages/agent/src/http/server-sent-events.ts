import type { ServerResponse } from 'node:http'
import type { StreamEvents } from '@sonde/sdk/api'
import { SECURITY_HEADERS } from './security-headers.ts'

/** What ends an event. */
export const EVENT_END = '\n\n'

/** Answers a request with a stream of events. */
export function startEvents(out: ServerResponse): void {
  out.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Otherwise nginx collects events before it sends them on.
    'x-accel-buffering': 'no',
  })
}

/** The text of an event. */
export function eventText<Name extends keyof StreamEvents>(name: Name, data: StreamEvents[Name]): string {
  return `${eventStart(name)}${JSON.stringify(data)}${EVENT_END}`
}

/**
 * The text of an event up to its data, which is JSON, and {@link EVENT_END}.
 *
 * @param id Id of the event, which a reconnecting client sends as its last event. Default: unchanged.
 */
export function eventStart(name: keyof StreamEvents, id?: number): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: `
}
