import type { ListedStuckCall, SourceState, TargetStatus } from '@sonde/sdk/api'
import type { Watch } from '../rules/watch.ts'
import type { ConfiguredSource, SourceDefinition } from '../sources/source.ts'
import type { SourceHost, TakePiece } from './host.ts'
import type { DutyPeriod, TapInfo, WindowEnd, WindowRequest } from './protocol.ts'
import type { SourceStats } from './source-stats.ts'
import type { SourceStatus } from './source-status.ts'
import { toldStuck } from './stuck-call.ts'

/** What windows of events are fetched from. */
export type RingSource = Pick<RunningSource, 'name' | 'definition' | 'stats' | 'taps' | 'window'>

/** A configured source, as the agent knows it wherever it runs. */
export class RunningSource {
  readonly name: string
  readonly definition: SourceDefinition
  readonly intervalMs: number
  readonly #status: SourceStatus
  readonly #host: SourceHost

  constructor({ name, definition, intervalMs }: ConfiguredSource, status: SourceStatus, host: SourceHost) {
    this.name = name
    this.definition = definition
    this.intervalMs = intervalMs
    this.#status = status
    this.#host = host
  }

  get state(): SourceState {
    return this.#status.state
  }

  /** Why it is in its state; empty while it reads. */
  get reason(): string {
    return this.#status.reason
  }

  /** The result of the probe, in words. */
  get found(): string {
    return this.#status.found
  }

  /** Calls that are over their limit, with what to do. */
  get stuck(): readonly ListedStuckCall[] {
    return this.#status.stuck.map(toldStuck)
  }

  /** How its targets fare, such as the exporters that it asks. */
  get targets(): readonly TargetStatus[] {
    return this.#status.targets
  }

  get stats(): SourceStats {
    return this.#status.stats
  }

  /** Whether it was sampled once, or settled in a state that says why not. */
  get settled(): boolean {
    return this.state !== 'starting'
  }

  /**
   * Has it answer a command.
   *
   * @throws SondeError of the source; `AGT_COMMAND` if it takes none, `AGT_CHILD_EXIT` if its host does not run.
   */
  command(command: unknown): Promise<unknown> {
    return this.#host.command(this.name, command)
  }

  /**
   * Changes the period of a duty, for this host and its successors.
   *
   * @throws SondeError `AGT_COMMAND` for an unknown duty or an invalid period, `AGT_CHILD_EXIT` if its host is not
   * running.
   */
  setPeriod(period: DutyPeriod): Promise<void> {
    return this.#host.setPeriod(this.name, period)
  }

  /**
   * Lets rules watch its samples, in this host and its successors.
   *
   * @throws SondeError `AGT_TAP` for a rule whose history exceeds the ring.
   */
  watch(watch: Watch): Promise<void> {
    return this.#host.watch(this.name, watch)
  }

  /**
   * Switches it off with a reason, or on with an empty reason, in this host and its successors. A source that is off is
   * `absent`, with this reason; a source that was switched on keeps it until it has looked for something to read.
   *
   * @throws SondeError `AGT_COMMAND` if it cannot be switched off.
   */
  pause(reason: string): Promise<void> {
    return this.#host.pause(this.name, reason)
  }

  /**
   * The rings of samples that it keeps.
   *
   * @throws SondeError `AGT_CHILD_EXIT` if its host does not run.
   */
  taps(): Promise<readonly TapInfo[]> {
    return this.#host.taps(this.name)
  }

  /** Hands over what was sampled in a stretch of time; see {@link SourceHost}. */
  window(request: WindowRequest, take: TakePiece): Promise<WindowEnd> {
    return this.#host.window(this.name, request, take)
  }
}
