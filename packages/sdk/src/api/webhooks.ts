// Answers of `GET /api/v1/webhooks` and its children. Times are milliseconds since the Unix epoch.

/** How an event stands: the words of the Convox rack. */
export type WebhookStatus = 'success' | 'error' | 'start' | 'skipped'

/** A receiver of webhooks, without its URL, which is a secret. */
export interface WebhookReceiver {
  readonly name: string
  /** Host of its URL, without port. */
  readonly urlHost: string
  readonly timeoutMs: number
  /** Types of events that it gets; `*` stands for any end. */
  readonly events: readonly string[]
  /** Signatures that its messages carry, each with the number of keys that sign. */
  readonly signatures: { readonly standard: number; readonly convox: number }
  /** Why it gets nothing at present; absent if it does. */
  readonly fault?: string
  /** Messages that wait for it or are under way. */
  readonly waiting: number
  /** Messages since the start, by their end. */
  readonly succeeded: number
  readonly failed: number
}

/** What `GET /api/v1/webhooks` answers. */
export interface WebhooksAnswer {
  readonly receivers: readonly WebhookReceiver[]
  /** Entries of the configuration that are no receivers. */
  readonly skipped: readonly { readonly name: string; readonly reason: string; readonly message: string }[]
  /** Further attempts of a message that fails. */
  readonly retries: number
}

/** A message to one receiver. */
export interface WebhookDelivery {
  /** The header `webhook-id`: the same for every receiver and every attempt. */
  readonly id: string
  readonly receiver: string
  readonly urlHost: string
  /** Type of the event. */
  readonly type: string
  readonly state: 'waiting' | 'succeeded' | 'failed'
  /** Attempts so far. */
  readonly attempts: number
  /** Status of the last answer; 0 if there was none. */
  readonly status: number
  /** Why it failed, as one word; absent if it did not fail, or if the status says it. */
  readonly error?: string
  /** The same as a sentence. */
  readonly reason?: string
  readonly queuedMs: number
  /** Absent while it waits. */
  readonly endedMs?: number
  /** When the next attempt is due; absent without one. */
  readonly nextMs?: number
}

/** What `GET /api/v1/webhooks/deliveries?receiver=&state=&type=&limit=` answers. */
export interface WebhookDeliveriesAnswer {
  readonly nowMs: number
  /** The latest first. */
  readonly deliveries: readonly WebhookDelivery[]
  /** Kept deliveries that match and are not listed. */
  readonly leftOut: number
  /** Deliveries that made room for later ones, since the start. */
  readonly forgotten: number
}

/** What `POST /api/v1/webhooks/test` answers. */
export interface WebhookTestAnswer {
  readonly deliveries: readonly WebhookDelivery[]
}
