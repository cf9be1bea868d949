import { randomUUID } from 'node:crypto'
import type { WebhookStatus } from '@sonde/sdk/api'

/** Longest value in the data of an event. Unit: characters. */
const VALUE_LENGTH_MAX = 1000

/** Something that happened, as receivers get it. */
export interface WebhookEvent {
  /** Words with dots between them, such as `hint.opened`. */
  readonly type: string
  readonly status: WebhookStatus
  /** When it happened. Unit: milliseconds since the Unix epoch. */
  readonly atMs: number
  /** Texts by name. Absent values are left out. */
  readonly data: Readonly<Record<string, string | undefined>>
}

/** An event with its id and its body, which are the same for every receiver and every attempt. */
export interface WebhookMessage {
  readonly id: string
  readonly type: string
  readonly body: string
}

/**
 * The message of an event. Its body has the keys of Standard Webhooks, `type` and `timestamp`, beside those of the
 * Convox rack, `action` and `status`; all data are texts, as there.
 */
export function messageOfEvent({ type, status, atMs, data }: WebhookEvent): WebhookMessage {
  const texts = Object.entries({ actor: 'system', ...data }).flatMap(([name, text]) =>
    text === undefined || text === '' ? [] : [[name, text.slice(0, VALUE_LENGTH_MAX)]],
  )
  const timestamp = new Date(atMs).toISOString()
  const body = { type, action: type.replaceAll('.', ':'), status, timestamp, data: Object.fromEntries(texts) }
  return { id: `msg_${randomUUID()}`, type, body: JSON.stringify(body) }
}
