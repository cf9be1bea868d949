import { absenceType, countDrop, type RecordType, SondeError } from '@sonde/sdk'
import { within } from '@sonde/sdk/internal'
import type { NodeSource, Probe } from '../sources/source.ts'
import { Child, type Done, type RemoteOptions } from './child.ts'

const BACKOFF_MS = [0, 1000, 2000, 5000, 10_000, 30_000]
/** A child that lived this long is not counted among those that fail at once. Unit: milliseconds. */
const HEALTHY_MS = 60_000
const CLOSE_LIMIT_MS = 500
/** A child that is killed ends at once, unless the kernel holds it in a call of its own. Unit: milliseconds. */
const END_LIMIT_MS = 1000

/**
 * A source that runs in a child process or worker, seen from the agent. Each call has a time limit: a child that does
 * not answer is ended and replaced, as is one that crashed; the wait before the next grows to 30 s while they keep
 * failing.
 */
export class RemoteSource implements NodeSource {
  readonly #options: RemoteOptions
  readonly #types: ReadonlyMap<string, RecordType>
  #child: Child | undefined
  /** The end of the child before, which may have been given up before it came. */
  #former: Promise<void> | undefined
  #failures = 0
  #nextStartMs = 0
  /** Why the last child ended, where no call was open that could have said so. */
  #untold: SondeError | undefined
  #closed = false

  constructor(options: RemoteOptions) {
    this.#options = options
    this.#types = new Map([...options.types, absenceType].map((type) => [type.fingerprint, type]))
  }

  /** Process id of the child; undefined while there is none, and for a worker. */
  get pid(): number | undefined {
    return this.#child?.transport.pid
  }

  open(): void {
    // The child is started by the first call, and opens its source itself.
  }

  async probe(): Promise<Probe> {
    const looked = this.#child === undefined ? this.#options.look?.() : undefined
    if (looked !== undefined && looked.state !== 'present') return looked
    const { probe } = await this.#call('probe')
    return probe ?? { state: 'stuck', reason: 'The probe gave no answer.' }
  }

  async sample(): Promise<void> {
    await this.#call('sample')
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const child = this.#child
    // Whether it closes by itself or not, the kill that follows is what counts.
    await child?.call('close', CLOSE_LIMIT_MS).catch(() => undefined)
    child?.transport.kill()
    await within(END_LIMIT_MS, Promise.all([this.#former, child?.ended]))
  }

  async #call(method: 'probe' | 'sample'): Promise<Done> {
    const { stats, callLimitMs } = this.#options
    const untold = this.#untold
    this.#untold = undefined
    if (untold !== undefined) throw untold
    const child = this.#child ?? (await this.#startChild())
    const done = await child.call(method, callLimitMs)
    stats.failed.count += done.failed
    for (const read of done.failures) stats.failed.take(read)
    for (const [reason, records] of Object.entries(done.dropped)) countDrop(stats, reason, records)
    if (done.error === undefined) return done
    const error = new SondeError(done.error.code, done.error.message)
    // It has nothing but stuck calls: another one may find the drivers in a better mood, this one cannot make a call
    // any more.
    if (error.code === 'SRC_STUCK') child.giveUp('had nothing but stuck calls')
    throw error
  }

  async #startChild(): Promise<Child> {
    const waitMs = this.#nextStartMs - Date.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
    if (this.#closed) throw new SondeError('AGT_CLOSED', 'the source is closed')
    const startedMs = Date.now()
    const child = new Child(this.#options, this.#types, (reason, { untold }) => {
      this.#child = undefined
      this.#former = child.ended
      if (this.#closed) return
      this.#failures = Date.now() - startedMs > HEALTHY_MS ? 0 : this.#failures + 1
      this.#nextStartMs = Date.now() + (BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)] ?? 0)
      this.#options.stats.restarts++
      this.#untold = untold
      child.sayGone(reason)
    })
    this.#child = child
    return child
  }
}
