import { type ReferenceKind, ReferenceRule } from './reference-rule.ts'

/** What the reference application reads of its configuration file. */
export interface ReferenceBook {
  /** Unit: nanoseconds. */
  readonly samplePeriodNs: number
  /** Samples; a power of two. */
  readonly depth: number
  readonly dataIds: readonly { readonly name: string; readonly dataId: bigint }[]
  readonly rules: readonly {
    readonly name: string
    readonly dataId: bigint
    readonly kind: ReferenceKind
    readonly value: bigint
  }[]
}

/** A sample as a device gives it, with the host's clock when it was read. */
export interface ReferenceSample {
  /** The two words of the header that make the timestamp of the log. */
  readonly earliestTimestampHigh: number
  readonly latestTimestampLow: number
  /** The query that gave this sample did not answer SUCCESS. */
  readonly isSkipped: boolean
  /** Unit: nanoseconds since the Unix epoch. */
  readonly hostWallNs: bigint
  /** In the order of the data IDs. */
  readonly values: readonly bigint[]
}

/** What the header says beside the configuration. */
export interface ReferenceHeader {
  readonly version: string
  /** The text of `-d`. */
  readonly device: string
}

const NAMES_IN_HEADER: Readonly<Record<ReferenceKind, string>> = {
  inc_gt: 'incremental',
  dt_gt: 'differential_greater_than',
  dt_lt: 'differential_less_than',
  gt: 'greater_than',
  lt: 'less_than',
}

/**
 * The events log that the reference application writes for these samples: to the last, or to the first it cannot take.
 */
export function referenceLog(
  header: ReferenceHeader,
  book: ReferenceBook,
  samples: readonly ReferenceSample[],
): string {
  const lines = headerLines(header, book)
  const columns = book.rules.map(({ dataId }) => book.dataIds.findIndex((listed) => listed.dataId === dataId))
  const rules = book.rules.map(({ kind, value }) => new ReferenceRule({ kind, value, depth: book.depth }))
  const columnRow = ['timestamp', ...book.dataIds.map(({ name }) => name)].join(', ')
  const stored: ReferenceSample[] = []
  let active = 0
  for (const sample of samples) {
    if (sample.isSkipped) break
    stored.push(sample)
    if (stored.length > 2 * book.depth) stored.shift()
    if (active !== 0) lines.push(sampleRow(sample))
    for (const [index, rule] of rules.entries()) {
      const column = stored.map(({ values }) => values[columns[index] as number] as bigint)
      if (!rule.evaluate(column)) continue
      const name = book.rules[index]?.name
      const time = `${new Date(Number(sample.hostWallNs / 1_000_000_000n) * 1000).toISOString().slice(0, 19)}Z`
      if (rule.isActive) {
        active += 1
        if (active === 1) lines.push(columnRow, ...stored.map(sampleRow))
        lines.push(`<<Event start>> Time: ${time}, Rule: "${name}"`)
      } else {
        active -= 1
        lines.push(`<<Event end>> Time: ${time}, Rule: "${name}"`)
      }
    }
  }
  return lines.map((line) => `${line}\n`).join('')
}

function headerLines({ version, device }: ReferenceHeader, book: ReferenceBook): string[] {
  return [
    `Telemetry monitor : ${version}`,
    'Configuration: ',
    `\tDevice: "${device}"`,
    `\tSample history depth: ${book.depth}`,
    `\tDiag sample period: ${book.samplePeriodNs}ns`,
    '\tData IDs: [',
    ...book.dataIds.flatMap(({ name, dataId }) => [
      '\t\t{',
      `\t\t\tName: "${name}",`,
      `\t\t\tData ID: ${hex(dataId)}`,
      '\t\t},',
    ]),
    '\t]',
    '\tRules: [',
    ...book.rules.flatMap(({ name, dataId, kind, value }) => [
      '\t\t{',
      `\t\t\tName: "${name}",`,
      `\t\t\tData ID: ${hex(dataId)}`,
      `\t\t\tComparison type: ${NAMES_IN_HEADER[kind]}`,
      `\t\t\tComparison value: ${value}`,
      '\t\t},',
    ]),
    '\t]',
    '',
    '',
  ]
}

function sampleRow({ earliestTimestampHigh, latestTimestampLow, values }: ReferenceSample): string {
  const timestamp = (BigInt(earliestTimestampHigh) << 32n) | BigInt(latestTimestampLow)
  return [timestamp, ...values].join(', ')
}

function hex(dataId: bigint): string {
  return `0x${dataId.toString(16).padStart(16, '0')}`
}
