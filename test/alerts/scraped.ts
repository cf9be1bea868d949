// Scrapes of sources at times that a test chooses, and the series that promtool reads.

import type { TestContext } from 'node:test'
import type { SourceContext, SourceDefinition } from '../../packages/agent/src/sources/source.ts'
import { TestedSource } from '../../packages/agent/src/sources/test-node.ts'
import { CORE_SET } from '../../packages/sdk/src/fieldset/fieldset.ts'
import { type Batch, createPrometheus } from '../../packages/sdk/src/index.ts'
import { parseExposition } from '../../packages/sdk/test/parse-exposition.ts'

/** The values of each series, one a scrape; undefined where a scrape has none. */
export type SeriesValues = Map<string, (string | undefined)[]>

/** A view of one target, which a test scrapes. */
export class Target {
  readonly #view = createPrometheus()
  readonly #instance: string
  /** The lines of these metrics. */
  readonly #lines: RegExp

  /** @param metrics Metrics to keep, without the suffix of histograms. */
  constructor(instance: string, metrics: readonly string[]) {
    this.#instance = instance
    this.#lines = new RegExp(`^(?:# \\w+ )?(?:${metrics.join('|')})(?:_bucket)?[ {].*\n`, 'gm')
  }

  accept = (batch: Batch): void => this.#view.accept(batch)

  /** A source whose records this target shows. */
  source(
    t: Pick<TestContext, 'after'>,
    definition: SourceDefinition,
    paths: SourceContext['paths'],
    options = {},
  ): TestedSource {
    const tested = new TestedSource(definition, paths, options, definition.intervalMs, this.accept)
    t.after(() => tested.source.close())
    return tested
  }

  /** Adds a scrape of the core set to the series. `number` counts scrapes from 0. */
  async scrape(series: SeriesValues, number: number): Promise<void> {
    const scrape = await this.#view.render({}, CORE_SET)
    const page = Buffer.concat(scrape.chunks).toString()
    scrape.release()
    const lines = Buffer.from((page.match(this.#lines) ?? []).join(''))
    for (const { samples } of parseExposition(lines, 'text').values()) {
      for (const sample of samples) {
        const labels = { ...sample.labels, instance: this.#instance, job: 'sonde' }
        const texts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
        const key = `${sample.name}{${texts.sort().join(',')}}`
        const values = series.get(key) ?? []
        series.set(key, values)
        values[number] = String(Number(sample.value))
      }
    }
  }
}

/** Text of values for promtool, where equal steps are written once: `0+10x40`, and `_x5` without values. */
export function valuesText(values: readonly (string | undefined)[]): string {
  const parts: string[] = []
  for (let at = 0; at < values.length; ) {
    const first = values[at]
    const step = first === undefined ? undefined : stepAt(values, at)
    let end = at + 1
    while (end < values.length && (first === undefined ? values[end] === undefined : stepAt(values, end - 1) === step))
      end++
    const more = end - at - 1
    if (first === undefined) parts.push(more === 0 ? '_' : `_x${more + 1}`)
    else if (more === 0 || step === undefined) parts.push(first)
    else parts.push(`${first}+${step}x${more}`)
    at = step === undefined && first !== undefined ? at + 1 : end
  }
  return parts.join(' ').replaceAll('+-', '-')
}

/** Difference of two neighbours that are whole numbers. */
function stepAt(values: readonly (string | undefined)[], at: number): number | undefined {
  const step = Number(values[at + 1]) - Number(values[at])
  return Number.isSafeInteger(step) ? step : undefined
}
