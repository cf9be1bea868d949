import { messageOf } from '../errors.ts'
import { backoffMs } from '../internal/backoff.ts'
import type { Timers } from '../internal/timers.ts'
import type { CheckedLimits } from './config.ts'

/** Records of a payload that the peer refused. */
export interface RefusedRecords {
  /** Index of their batch among those that were encoded. */
  readonly batch: number
  /** Their indexes in the batch. Default: all of its records. */
  readonly records?: readonly number[]
  /** Words of the peer, without secrets. */
  readonly reason: string
}

/**
 * The result of one attempt. `ok`: the peer has accepted the whole payload. `partial`: it has accepted all but the
 * refused records, and `unknown` are further records that it refused without saying which. `retry`: try later, after
 * `afterMs` if the peer asked for a pause. `reject`: the peer will never accept the payload and has accepted no part of
 * it, because of its `size` or its `content`: it may accept the same records, or others of them, in smaller payloads.
 */
export type SendResult =
  | { readonly outcome: 'ok' }
  | {
      readonly outcome: 'partial'
      readonly refused: readonly RefusedRecords[]
      readonly unknown?: { readonly records: number; readonly reason: string } | undefined
    }
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly outcome: 'reject'; readonly reason: string; readonly because?: 'size' | 'content' }

/**
 * Makes one attempt to send a payload. Must stop when the signal aborts; later results are ignored. An error counts as
 * `retry`.
 */
export type Send<P> = (payload: P, signal: AbortSignal) => Promise<SendResult>

/** The final result of a payload. `expired`: attempts or time ran out. `stopped`: delivery closes. */
export type Verdict =
  | Extract<SendResult, { outcome: 'ok' | 'partial' }>
  | { readonly outcome: 'reject' | 'expired'; readonly reason: string }
  | { readonly outcome: 'stopped' }

const STOPPED = { outcome: 'stopped' } as const

/** Attempts, pauses and time limits of payloads. */
export class Sender<P> {
  readonly #send: Send<P>
  readonly #limits: CheckedLimits
  readonly #timers: Timers
  readonly #random: () => number
  readonly #onFailure: (reason: string) => void
  readonly #waitMs: () => number
  /** Cancel functions: `stop` cancels attempts and pauses, `hurry` only pauses. */
  readonly #attempts = new Set<() => void>()
  readonly #pauses = new Set<() => void>()
  #stopped = false

  constructor(
    send: Send<P>,
    limits: CheckedLimits,
    timers: Timers,
    random: () => number,
    onFailure: (reason: string) => void,
    waitMs: () => number = () => 0,
  ) {
    this.#send = send
    this.#limits = limits
    this.#timers = timers
    this.#random = random
    this.#onFailure = onFailure
    this.#waitMs = waitMs
  }

  get stopped(): boolean {
    return this.#stopped
  }

  /**
   * Tries until the payload is accepted or rejected, or a limit is reached.
   *
   * @param expiresMs When the queue gives the payload up. Default: the limits of retries apply.
   */
  async deliver(payload: P, expiresMs?: number): Promise<Verdict> {
    await this.#untilAllowed()
    const { retryLimitMs } = this.#limits
    const attemptsMax = expiresMs === undefined ? this.#limits.attemptsMax : Number.POSITIVE_INFINITY
    const deadlineMs = expiresMs ?? this.#timers.nowMs() + retryLimitMs
    for (let attempt = 1; !this.#stopped; attempt++) {
      const result = await this.#attempt(payload)
      if (result.outcome === 'ok' || result.outcome === 'partial' || result.outcome === 'stopped') return result
      this.#onFailure(result.reason)
      if (result.outcome === 'reject') return result
      const leftMs = deadlineMs - this.#timers.nowMs()
      if (attempt >= attemptsMax || leftMs <= 0) return { outcome: 'expired', reason: result.reason }
      // A peer cannot stop a queue that keeps its records for a week.
      const asked = result.afterMs !== undefined && result.afterMs > 0 ? Math.min(retryLimitMs, result.afterMs) : 0
      // The last attempt is at the deadline, even if the peer asked for a longer pause.
      await this.pause(Math.min(leftMs, Math.max(asked, backoffMs(attempt, this.#limits, this.#random))))
      await this.#untilAllowed()
    }
    return STOPPED
  }

  /** Outside an attempt, so that waiting for a limit of bytes a second takes nothing of its time limit. */
  async #untilAllowed(): Promise<void> {
    const waitMs = this.#waitMs()
    if (waitMs > 0) await this.pause(waitMs)
  }

  /** Ends the current pauses: waiting payloads are tried again now. */
  hurry(): void {
    for (const end of this.#pauses) end()
  }

  /** Ends all attempts and pauses, for good. */
  stop(): void {
    this.#stopped = true
    this.hurry()
    for (const end of this.#attempts) end()
  }

  #attempt(payload: P): Promise<SendResult | typeof STOPPED> {
    return new Promise((resolve) => {
      const controller = new AbortController()
      const end = (result: SendResult | typeof STOPPED) => {
        cancel()
        this.#attempts.delete(stop)
        resolve(result)
      }
      // Settled first: the error of the aborted attempt is then ignored.
      const abandon = (result: SendResult | typeof STOPPED) => {
        end(result)
        controller.abort()
      }
      const stop = () => abandon(STOPPED)
      const { timeoutMs } = this.#limits
      const cancel = this.#timers.after(timeoutMs, () =>
        abandon({ outcome: 'retry', reason: `no answer within ${timeoutMs} ms` }),
      )
      this.#attempts.add(stop)
      // Catches a `send` that throws before its first await too.
      Promise.resolve()
        .then(() => this.#send(payload, controller.signal))
        .then(
          // A `send` written in JavaScript can return anything.
          (result) => end(result ?? { outcome: 'retry', reason: 'send answered nothing' }),
          (error) => end({ outcome: 'retry', reason: reasonOf(error) }),
        )
    })
  }

  /** Waits until the time is over, or `hurry` or `stop` ends the pause. */
  pause(delayMs: number): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        cancel()
        this.#pauses.delete(end)
        resolve()
      }
      const cancel = this.#timers.after(delayMs, end)
      this.#pauses.add(end)
    })
  }
}

/**
 * The message of an error of a transport. An error of `fetch` is only "fetch failed"; its cause has the reason, as a
 * message or only as a code.
 */
function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined }
  if (!(cause instanceof Error)) return messageOf(error)
  const [said, why] = [messageOf(error), cause.message || ('code' in cause ? String(cause.code) : cause.name)]
  return said.includes(why) ? said : `${said}: ${why}`
}
