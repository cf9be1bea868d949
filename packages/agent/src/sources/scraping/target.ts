import { messageOf, SondeError } from '@sonde/sdk'
import { ExpositionParser } from '@sonde/sdk/internal'
import type { SourceContext } from '../source.ts'
import { readCredentials } from './credentials.ts'
import { httpGet } from './http-get.ts'
import type { ScrapingOptions } from './options.ts'

/** Makes records of what an exporter answers. */
export interface TargetReader {
  /** Why a body is not one of such an exporter, after its address; empty where it is. It has a series. */
  refusal(parser: ExpositionParser): string
  /**
   * Reports everything in a body.
   *
   * @throws SondeError where the body tells that what is in it does not hold; then `fail` follows.
   */
  report(parser: ExpositionParser): void
  /** What was known of the exporter is not known any more. */
  fail(reason: string): void
  /** The exporter is asked no more. */
  leave(reason: string): void
}

/** One address: asks it, and hands what it answers to a reader. */
export class Target {
  readonly address: string
  /** Why it tells nothing now; empty while it answers as it should. */
  fault: string
  readonly #options: ScrapingOptions
  readonly #context: SourceContext
  readonly #parser: ExpositionParser
  readonly #reader: TargetReader
  readonly #left = new AbortController()

  constructor(address: string, options: ScrapingOptions, context: SourceContext, reader: TargetReader) {
    this.address = address
    this.fault = ''
    this.expect()
    this.#options = options
    this.#context = context
    this.#reader = reader
    this.#parser = new ExpositionParser({ bodyBytes: options.max_bytes })
  }

  /** It is looked at anew: until it answers it tells nothing. */
  expect(): void {
    this.fault = `${this.address} has not answered yet`
  }

  /**
   * Asks once.
   *
   * @throws SondeError `SRC_SCRAPE` where there is no answer, or one of another exporter: what it tells of is not known
   * then; `SRC_CREDENTIALS` where there is nothing to show it.
   */
  async look(signal: AbortSignal): Promise<void> {
    try {
      await this.#ask(signal)
      this.fault = ''
    } catch (error) {
      if (!signal.aborted) this.fault = messageOf(error)
      throw error
    }
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { timeout_ms: timeoutMs, max_bytes: bytesMax } = this.#options
    const credentials = await readCredentials(this.#options)
    const { body, isOpenMetrics } = await httpGet(this.address, { timeoutMs, bytesMax, signal, credentials })
    const parser = this.#parser
    parser.parse(body, isOpenMetrics ? 'openmetrics' : 'text')
    const fault = (why: string) => new SondeError('SRC_SCRAPE', `${this.address} ${why}`)
    if (parser.count === 0)
      throw fault('answers without a series, as while it starts anew: what it tells of is not known')
    const refusal = this.#reader.refusal(parser)
    if (refusal !== '') throw fault(refusal)
    const [first] = parser.faults.lines
    if (first === undefined) return
    const counts = [...parser.faults.counts].map(([name, count]) => `${count} ${name}`).join(', ')
    this.#context.failed(this.address, fault(`has lines that are wrong (${counts}), the first is line ${first.line}`))
  }

  /**
   * Asks, and reports everything in the answer.
   *
   * @throws SondeError as {@link look}; then everything is absent, with the reason.
   */
  async scrape(ending: AbortSignal): Promise<void> {
    // What is under way when it leaves is not reported: nobody would take it back.
    const signal = AbortSignal.any([ending, this.#left.signal])
    try {
      await this.look(signal)
      if (!signal.aborted) this.#reader.report(this.#parser)
    } catch (error) {
      if (this.#left.signal.aborted) return
      if (!signal.aborted) this.fail(messageOf(error))
      throw error
    }
  }

  /** What is known of it is not known any more. */
  fail(reason: string): void {
    if (this.#left.signal.aborted) return
    this.fault = reason
    this.#reader.fail(reason)
  }

  /** It is asked no more. */
  leave(reason: string): void {
    this.#left.abort()
    this.#reader.leave(reason)
  }
}
