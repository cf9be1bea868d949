import { SondeError } from '@sonde/sdk'
import { within } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import { encodeWatch, type Watch } from '../rules/watch.ts'
import type { Probe } from '../sources/source.ts'
import { probeOf, tapsOf, windowEndOf } from './from-host.ts'
import type { SourceHost, SourceToStart, TakePiece } from './host.ts'
import { HostLife } from './host-life.ts'
import type { DutyPeriod, Reply, TapInfo, WindowEnd, WindowRequest } from './protocol.ts'
import { RemoteSource } from './remote-source.ts'
import type { TransportStart } from './transport.ts'

/** Pauses before the next life, by the number of lives before it that were short. Unit: milliseconds. */
const BACKOFF_MS = [0, 1000, 2000, 5000, 10_000, 30_000]
/** Series wait for the next life where the pause before it is no longer. Unit: milliseconds. */
const SOON_MS = 1000
/** A life this long is not counted among those that fail at once. Unit: milliseconds. */
const HEALTHY_MS = 60_000
/** Period of probes for absent hardware. Unit: milliseconds. */
const LOOK_EVERY_MS = 10_000
/** Of the time for a stop, what the host has for its own part. */
const ASKED_SHARE = 0.8
/** A child that is killed ends at once, unless the kernel holds it in a call of its own. Unit: milliseconds. */
const END_LIMIT_MS = 1000

/** Options of a {@link RemoteHost}. */
export interface RemoteOptions {
  /** Name in messages: `library ethtool`, `source replay`. */
  readonly label: string
  readonly start: TransportStart
  /** Longest that nothing may be heard of it. Unit: milliseconds. */
  readonly callLimitMs: number
  readonly log: Logger
}

/**
 * A host in a child process or worker, seen from the agent: starts it when there is something to read, watches it, and
 * replaces it when it crashed, does not answer, or has nothing but stuck calls. The pause before the next one grows to
 * 30 s while they keep failing.
 */
export class RemoteHost implements SourceHost {
  readonly #options: RemoteOptions
  readonly #sources = new Map<string, RemoteSource>()
  /** Sources with absent hardware. */
  readonly #absent = new Set<string>()
  #life: HostLife | undefined
  /** The end of the previous life, which may have been abandoned earlier. */
  #former: Promise<void> = Promise.resolve()
  #shortLives = 0
  #next: NodeJS.Timeout | undefined
  #looks: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: RemoteOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#life?.transport.pid
  }

  /** Starts a source, as soon as there is something to read. */
  start(given: SourceToStart): void {
    const source = new RemoteSource(given)
    this.#sources.set(given.config.name, source)
    if (this.#isPresent(source)) this.#run([source])
    this.#looks ??= setInterval(() => this.#lookAgain(), LOOK_EVERY_MS).unref()
  }

  async probe(given: Pick<SourceToStart, 'config' | 'definition'>): Promise<Probe> {
    const { config, definition } = given
    const looked = definition.look?.(config.options, config.paths)
    if (looked !== undefined && looked.state !== 'present') return looked
    const reply = await this.#ask((id) => ({ kind: 'probe', id, source: config }), { life: this.#begin() })
    return probeOf(reply.value)
  }

  async command(source: string, command: unknown): Promise<unknown> {
    const { value } = await this.#ask((id) => ({ kind: 'command', id, source, command }))
    return value
  }

  async setPeriod(source: string, period: DutyPeriod): Promise<void> {
    await this.#ask((id) => ({ kind: 'period', id, source, period }))
    this.#sources.get(source)?.keepPeriod(period)
  }

  async watch(source: string, watch: Watch): Promise<void> {
    const said = encodeWatch(watch)
    const known = this.#sources.get(source)
    // Later lives watch too; a life that has not started gets the rules at its start.
    known?.keep({ watch: said })
    if (this.#life?.runs(source) === true) await this.#ask((id) => ({ kind: 'watch', id, source, watch: said }))
  }

  async pause(source: string, reason: string): Promise<void> {
    const known = this.#sources.get(source)
    // Later lives are switched off too; a life that has not started gets the reason at its start.
    known?.keep({ paused: reason })
    if (this.#life?.runs(source) === true) await this.#ask((id) => ({ kind: 'pause', id, source, reason }))
  }

  async taps(source: string): Promise<readonly TapInfo[]> {
    const { value } = await this.#ask((id) => ({ kind: 'taps', id, source }))
    return tapsOf(value)
  }

  async window(source: string, window: WindowRequest, take: TakePiece): Promise<WindowEnd> {
    const { value } = await this.#ask((id) => ({ kind: 'window', id, source, window }), { take })
    return windowEndOf(value)
  }

  async stop(deadlineMs: number): Promise<readonly string[]> {
    if (this.#stopped) return []
    this.#stopped = true
    clearTimeout(this.#next)
    clearInterval(this.#looks)
    const life = this.#life
    const open = (await life?.stop(deadlineMs * ASKED_SHARE)) ?? []
    await within(END_LIMIT_MS, Promise.all([this.#former, life?.ended]))
    return open
  }

  #lookAgain(): void {
    const back = [...this.#absent].flatMap((name) => this.#sources.get(name) ?? [])
    this.#run(back.filter((source) => this.#isPresent(source)))
  }

  #isPresent(source: RemoteSource): boolean {
    const { config, definition } = source.given
    const looked = definition.look?.(config.options, config.paths)
    const isPresent = looked === undefined || looked.state === 'present'
    if (isPresent) {
      this.#absent.delete(config.name)
      return true
    }
    this.#absent.add(config.name)
    source.settle(looked.state, looked.reason)
    return false
  }

  #run(sources: readonly RemoteSource[]): void {
    if (sources.length === 0 || this.#stopped || this.#next !== undefined) return
    const life = this.#begin()
    for (const source of sources) life.start(source)
  }

  #begin(): HostLife {
    if (this.#life !== undefined) return this.#life
    const startedMs = performance.now()
    const life: HostLife = new HostLife({
      ...this.#options,
      onLost: (error) => this.#lose(life, error, performance.now() - startedMs),
    })
    this.#life = life
    this.#options.log.debug({ host: this.#options.label, child: life.transport.pid }, 'host started')
    return life
  }

  /** The next life begins after a pause. */
  #lose(life: HostLife, error: SondeError, livedMs: number): void {
    this.#life = undefined
    this.#former = life.ended
    if (this.#stopped) return
    this.#shortLives = livedMs > HEALTHY_MS ? 0 : this.#shortLives + 1
    const pauseMs = BACKOFF_MS[Math.min(this.#shortLives, BACKOFF_MS.length - 1)] ?? 0
    for (const source of life.sources()) source.lost(error, { isSoon: pauseMs <= SOON_MS })
    this.#next = setTimeout(() => {
      this.#next = undefined
      this.#run([...this.#sources.values()].filter((source) => this.#isPresent(source)))
    }, pauseMs).unref()
  }

  #ask(
    messageOf: Parameters<HostLife['ask']>[0],
    { life = this.#life, take }: { readonly life?: HostLife | undefined; readonly take?: TakePiece } = {},
  ): Promise<Reply> {
    if (life !== undefined) return life.ask(messageOf, take)
    const { label } = this.#options
    return Promise.reject(new SondeError('AGT_CHILD_EXIT', `The host of ${label} does not run; ask again in a moment`))
  }
}
