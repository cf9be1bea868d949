import { SondeError } from '@sonde/sdk'
import type { TargetStatus } from '@sonde/sdk/api'
import { ExpositionParser, messageOf, PARSE_LIMITS } from '@sonde/sdk/internal'
import type { SourceContext } from '../source.ts'
import { readCredentials } from './credentials.ts'
import { httpGet } from './http-get.ts'
import { BudgetSpent, CpuBudget, inTurns } from './in-turns.ts'
import type { ScrapingOptions } from './options.ts'
import { type RefusalReason, reasonOf, ScrapeRefusal } from './refusal.ts'
import type { Rows } from './rows.ts'
import { TargetState } from './target-state.ts'

const NEWLINE = 10
/** Series of a body for each that the exporter may bring: most lines are of fields, and some are not read. */
const BODY_SERIES = 8
/** An exporter whose answer took too much rests for so many times that. */
const REST = 10

/** Makes records of what an exporter answers. */
export interface TargetReader {
  readonly rows: Rows
  /**
   * Looks, in steps, why a body is not one of such an exporter: what follows its address, empty if it is one. It has
   * a series.
   */
  refusal(parser: ExpositionParser): Generator<undefined, string>
  /**
   * Reports everything in a body, in steps.
   *
   * @throws SondeError if the body tells that what is in it does not hold; then `fail` follows.
   */
  report(parser: ExpositionParser): Generator<undefined, void>
  /** What was known of the exporter is not known any more. */
  fail(reason: string): void
  /** The exporter is asked no more. */
  leave(reason: string): void
}

/** One address: asks it, and hands what it answers to a reader. */
export class Target {
  readonly address: string
  readonly #options: ScrapingOptions
  readonly #context: SourceContext
  readonly #reader: TargetReader
  readonly #state: TargetState
  readonly #left = new AbortController()
  #parser: ExpositionParser
  /** Until when it rests, on the monotonic clock, and why. */
  #restsUntilMs = Number.NEGATIVE_INFINITY
  #restReason = ''

  constructor(address: string, options: ScrapingOptions, context: SourceContext, reader: TargetReader) {
    this.address = address
    this.#options = options
    this.#context = context
    this.#reader = reader
    this.#state = new TargetState(address)
    this.#parser = this.#makeParser()
  }

  /** How it fares. */
  get status(): TargetStatus {
    return this.#state.status
  }

  /**
   * Asks once, without reporting.
   *
   * @throws SondeError as {@link scrape}.
   */
  async look(signal: AbortSignal): Promise<void> {
    // A scrape may be under way, whose samples stay as they are.
    const parser = this.#makeParser()
    await this.#within((budget) => this.#read(parser, signal, budget))
  }

  /**
   * Asks, and reports everything in the answer.
   *
   * @throws SondeError `SRC_SCRAPE` if there is no answer, or one that is refused: everything is absent then, with
   * the reason; `SRC_CREDENTIALS` if there is nothing to show it.
   */
  async scrape(ending: AbortSignal): Promise<void> {
    // A scrape that is under way when the target leaves is not reported: nobody would take its rows back.
    const signal = AbortSignal.any([ending, this.#left.signal])
    try {
      await this.#within(async (budget) => {
        await this.#read(this.#parser, signal, budget)
        await inTurns(this.#reader.report(this.#parser), budget, signal)
      })
      this.#state.settle('reading', '', this.#reader.rows.disputes)
    } catch (error) {
      if (this.#left.signal.aborted) return
      if (!signal.aborted) this.#refuse(error)
      throw error
    }
  }

  /** What is known of it is not known any more. */
  fail(reason: string): void {
    if (this.#left.signal.aborted) return
    this.#state.settle('failed', reason)
    this.#reader.fail(reason)
  }

  /** It is asked no more. */
  leave(reason: string): void {
    this.#left.abort()
    this.#reader.leave(reason)
  }

  /** Gives way to what sources of the hardware hold by now. */
  review(): void {
    this.#reader.rows.review()
  }

  /** Work within its budget; what takes more is refused, and its exporter rests. */
  async #within(work: (budget: CpuBudget) => Promise<void>): Promise<void> {
    const budget = new CpuBudget(this.#options.max_cpu_ms)
    if (performance.now() < this.#restsUntilMs) throw new ScrapeRefusal('cpu_time', this.address, this.#restReason)
    try {
      await work(budget)
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
      // What was learnt of its series would be kept for nothing.
      this.#parser = this.#makeParser()
      this.#restsUntilMs = performance.now() + budget.usedMs * REST
      const took = `answered with work for more than ${budget.limitMs} ms of processor time`
      this.#restReason = `${took}, which max_cpu_ms allows: it is refused, and asked again in ${Math.ceil((budget.usedMs * REST) / 1000)} s`
      throw new ScrapeRefusal('cpu_time', this.address, this.#restReason)
    }
  }

  /** Asks, and reads the answer. */
  async #read(parser: ExpositionParser, signal: AbortSignal, budget: CpuBudget): Promise<void> {
    const { timeout_ms: timeoutMs, max_bytes: bytesMax } = this.#options
    const credentials = await readCredentials(this.#options)
    const { body, isOpenMetrics } = await httpGet(this.address, { timeoutMs, bytesMax, signal, credentials })
    const refused = (reason: RefusalReason, why: string) => new ScrapeRefusal(reason, this.address, why)
    const cut = (what: string) =>
      refused('truncated', `answers with a body that is cut off: ${what}; nothing of it is taken`)
    if (!isOpenMetrics && body.length > 0 && body.at(-1) !== NEWLINE) throw cut('its last line has no end')
    await inTurns(parser.read(body, isOpenMetrics ? 'openmetrics' : 'text'), budget, signal)
    if (isOpenMetrics && body.length > 0 && !parser.hasEnded) throw cut('it has no # EOF')
    if (parser.count === 0)
      throw refused('no_series', 'answers without a series, as while it starts anew: what it tells of is not known')
    const refusal = await inTurns(this.#reader.refusal(parser), budget, signal)
    if (refusal !== '') throw refused('no_series', refusal)
    this.#tellFaults(parser)
  }

  #tellFaults({ faults }: ExpositionParser): void {
    const [first] = faults.lines
    if (first === undefined) return
    const counts = [...faults.counts].map(([name, count]) => `${count} ${name}`).join(', ')
    const why = `has lines that are wrong (${counts}), the first is line ${first.line}`
    this.#context.failed(this.address, new SondeError('SRC_SCRAPE', `${this.address} ${why}`))
  }

  /** Its answer was refused as a whole: nothing of it is known. */
  #refuse(error: unknown): void {
    const reason = reasonOf(error)
    const isResting = performance.now() < this.#restsUntilMs
    this.#state.refuse(reason, isResting ? 'stopped' : 'failed', messageOf(error))
    this.#reader.fail(messageOf(error))
  }

  #makeParser(): ExpositionParser {
    const { max_bytes: bodyBytes, max_series: seriesMax } = this.#options
    const seriesCount = Math.min(PARSE_LIMITS.seriesCount, BODY_SERIES * seriesMax)
    return new ExpositionParser({ bodyBytes, seriesCount })
  }
}
