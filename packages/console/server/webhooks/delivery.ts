import type { WebhookDelivery } from '@sonde/sdk/api'
import type { WebhookMessage } from './event.ts'
import type { Receiver } from './receivers.ts'

/** The end of an attempt, or of a delivery without any. */
export interface DeliveryResult {
  /** Status of the answer; 0 if there was none. */
  readonly status: number
  /** Why it failed, as one word; absent if the status says it. */
  readonly error?: string
  /** The same as a sentence, without secrets. */
  readonly reason?: string
  /** The least pause before another attempt, if the receiver asked for one. Unit: milliseconds. */
  readonly pauseMs?: number
}

/** Whether a receiver took a message. A redirect is no success, because it is not followed. */
export function isSuccess({ status }: DeliveryResult): boolean {
  return status >= 200 && status < 300
}

/** One message to one receiver. */
export class Delivery {
  readonly receiver: Receiver
  readonly message: WebhookMessage
  /** A test is sent once, and to a receiver that asked for no more messages too. */
  readonly isTest: boolean
  attempts = 0
  /** When the next attempt is due. Unit: milliseconds since the Unix epoch. */
  nextMs: number | undefined
  readonly #queuedMs = Date.now()
  readonly #settled = Promise.withResolvers<void>()
  #last: DeliveryResult = { status: 0 }
  #endedMs: number | undefined

  constructor(receiver: Receiver, message: WebhookMessage, { isTest = false } = {}) {
    this.receiver = receiver
    this.message = message
    this.isTest = isTest
  }

  /** Resolves when it succeeded or failed for good. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  note(result: DeliveryResult): void {
    this.#last = result
  }

  end(result: DeliveryResult): void {
    this.note(result)
    this.#endedMs = Date.now()
    this.#settled.resolve()
  }

  told(): WebhookDelivery {
    const { id, type } = this.message
    const { name: receiver, urlHost } = this.receiver
    const { status, error, reason } = this.#last
    const state = this.#endedMs === undefined ? 'waiting' : isSuccess(this.#last) ? 'succeeded' : 'failed'
    return {
      ...{ id, receiver, urlHost, type, state, attempts: this.attempts, status, queuedMs: this.#queuedMs },
      ...(error !== undefined && { error }),
      ...(reason !== undefined && { reason }),
      ...(this.#endedMs !== undefined && { endedMs: this.#endedMs }),
      ...(this.nextMs !== undefined && { nextMs: this.nextMs }),
    }
  }
}
