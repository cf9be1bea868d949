import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import type { NamesTeller } from './devices/names-teller.ts'
import type { Precedence } from './devices/precedence.ts'
import { ASK_EVERY_MS, type Hints } from './hints/hints.ts'
import type { HintHistory } from './hints/history/hint-history.ts'
import { startTicker, type Ticker } from './hosting/scheduler.ts'
import type { ScraperSwitch } from './hosting/scraper-switch.ts'
import type { InfoRows } from './infos/info-rows.ts'
import type { OriginChanges } from './infos/origin-changes.ts'
import type { PodGpus } from './pods/pod-gpus.ts'

const RECALL_AGAIN_MS = 10_000

/** Options of {@link LookRound}. */
export interface LookRoundParts {
  readonly hints: Hints
  readonly hintHistory: HintHistory
  readonly infos: InfoRows
  readonly origins: OriginChanges
  readonly pods: PodGpus
  readonly precedence: Precedence
  /** Those that send names to sources. */
  readonly names: readonly NamesTeller[]
  readonly scrapers: ScraperSwitch
  readonly log: Logger
  readonly onFault: (error: unknown) => void
  /** Called after each look at hints. */
  readonly onHints: () => void
}

/** Has the parts that look at records, such as hints and pods, look at what came. */
export class LookRound {
  readonly #parts: LookRoundParts
  #ticker: Ticker | undefined
  #isStopped = false

  constructor(parts: LookRoundParts) {
    this.#parts = parts
  }

  start(): void {
    void this.#recallHints()
    this.#ticker = startTicker(ASK_EVERY_MS, () => this.#look(), this.#parts.onFault, 0)
  }

  stop(): void {
    this.#isStopped = true
    void this.#ticker?.stop(0)
  }

  /** Where a rule holds or pods have GPUs, there may be more to report before the next look. */
  async #look(): Promise<void> {
    const { pods, hints } = this.#parts
    this.#evaluate()
    if (!(pods.knowsPods || hints.isHolding)) return
    await delay(ASK_EVERY_MS / 2, undefined, { ref: false })
    this.#evaluate()
  }

  #evaluate(): void {
    const { precedence, names, scrapers, infos, origins, pods, hints, onHints } = this.#parts
    scrapers.tell()
    precedence.tell()
    for (const teller of names) teller.tell()
    infos.evaluate(performance.now())
    origins.evaluate(performance.now())
    pods.evaluate(performance.now())
    hints.evaluate(Date.now(), performance.now())
    onHints()
  }

  /** Asks a store that opens slowly again; until then, hints say that the time before the start is unknown. */
  async #recallHints(lastReason = ''): Promise<void> {
    const { hints, hintHistory, log } = this.#parts
    if (this.#isStopped) return
    try {
      await hintHistory.recallInto(hints)
    } catch (error) {
      const reason = messageOf(error)
      const again = `hints of before are not read yet; it is tried again every ${RECALL_AGAIN_MS} ms`
      if (reason !== lastReason) log.warn({ reason }, again)
      setTimeout(() => void this.#recallHints(reason), RECALL_AGAIN_MS).unref()
    }
  }
}
