import { closeSync, openSync, writeSync } from 'node:fs'
import { PRIVATE_FILE_MODE } from '@sonde/sdk/internal'
import type { EdgeList } from '../../rules/walk/edge-list.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import { logFault } from './log-file.ts'

/** A rule as the reference application prints it. */
export interface CompatRule {
  /** Bytes as characters, as all texts of {@link CompatHeader}. */
  readonly name: string
  readonly dataId: bigint
  /** The long name of the type, except for `incremental`. */
  readonly type: string
  readonly value: bigint
}

/** Head of the log. Texts are bytes as characters (latin1), because the reference copies them unchanged. */
export interface CompatHeader {
  /** Version of DOCA, such as 3.4.0012. */
  readonly version: string
  /** The text of `-d`. */
  readonly device: string
  readonly historySamples: number
  readonly samplePeriodNs: number
  readonly dataIds: readonly { readonly name: string; readonly id: bigint }[]
  readonly rules: readonly CompatRule[]
}

const SECOND_NS = 1_000_000_000n
/** Size of the write buffer. Unit: characters. */
const BUFFER_CHARACTERS = 256 * 1024

/** The events log of the reference application, byte for byte. */
export class CompatLog {
  readonly #header: CompatHeader
  readonly #path: string
  readonly #ring: DeviceRing
  readonly #columnRow: string
  #file: number
  #pending = ''
  #activeRules = 0

  /**
   * Creates or empties the file. {@link begin} writes the head, because a device that refuses leaves an empty log.
   * @throws SondeError `TRB_LOG` if it cannot be opened.
   */
  constructor(path: string, header: CompatHeader, ring: DeviceRing) {
    this.#path = path
    this.#header = header
    this.#ring = ring
    this.#columnRow = `${['timestamp', ...header.dataIds.map(({ name }) => name)].join(', ')}\n`
    try {
      this.#file = openSync(path, 'w', PRIVATE_FILE_MODE)
    } catch (cause) {
      throw logFault(path, cause)
    }
  }

  /** Writes the head. */
  begin(): void {
    this.#pending += headText(this.#header)
    this.flush()
  }

  /**
   * Writes the rows of samples and edges in the reference's order. The samples are the newest of the ring, which also
   * has twice the history before them.
   */
  write(first: number, end: number, edges: EdgeList): void {
    let edge = 0
    for (let sample = first; sample < end; sample++) {
      if (this.#activeRules > 0) this.#row(sample)
      else if (edge >= edges.count) break
      for (; edge < edges.count && edges.sample[edge] === sample; edge++)
        this.#edge(sample, edges.rule[edge] as number, edges.isStart[edge] === 1)
      if (this.#pending.length >= BUFFER_CHARACTERS) this.flush()
    }
    this.flush()
  }

  /** Closes the file; active rules get no end row. May be called twice. */
  close(): void {
    if (this.#file < 0) return
    closeSync(this.#file)
    this.#file = -1
  }

  /** @throws SondeError `TRB_LOG` if the disk refuses the rows. */
  flush(): void {
    const bytes = Buffer.from(this.#pending, 'latin1')
    this.#pending = ''
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    } catch (cause) {
      throw logFault(this.#path, cause)
    }
  }

  #edge(sample: number, rule: number, isStart: boolean): void {
    if (isStart) {
      this.#activeRules++
      // The reference dumps its whole history whenever the first rule becomes active, even rows that it has already
      // written.
      if (this.#activeRules === 1) this.#dump(sample)
    } else this.#activeRules--
    const time = new Date(Number((this.#ring.big(sample, SAMPLE_AT.wall) / SECOND_NS) * 1000n))
    const name = this.#header.rules[rule]?.name ?? ''
    const word = isStart ? 'start' : 'end'
    this.#pending += `<<Event ${word}>> Time: ${time.toISOString().slice(0, 19)}Z, Rule: "${name}"\n`
  }

  #dump(sample: number): void {
    this.#pending += this.#columnRow
    for (let old = Math.max(0, sample + 1 - 2 * this.#header.historySamples); old <= sample; old++) this.#row(old)
  }

  #row(sample: number): void {
    const ring = this.#ring
    let row = String(ring.big(sample, SAMPLE_AT.raw))
    for (let value = 0; value < ring.valueCount; value++) row += `, ${ring.valueText(sample, value)}`
    this.#pending += `${row}\n`
  }
}

function headText({ version, device, historySamples, samplePeriodNs, dataIds, rules }: CompatHeader): string {
  const rows = [
    `Telemetry monitor : ${version}`,
    'Configuration: ',
    `\tDevice: "${device}"`,
    `\tSample history depth: ${historySamples}`,
    `\tDiag sample period: ${samplePeriodNs}ns`,
    '\tData IDs: [',
    ...dataIds.flatMap(({ name, id }) => ['\t\t{', `\t\t\tName: "${name}",`, `\t\t\tData ID: ${hex(id)}`, '\t\t},']),
    '\t]',
    '\tRules: [',
    ...rules.flatMap(({ name, dataId, type, value }) => [
      '\t\t{',
      `\t\t\tName: "${name}",`,
      `\t\t\tData ID: ${hex(dataId)}`,
      `\t\t\tComparison type: ${type}`,
      `\t\t\tComparison value: ${value}`,
      '\t\t},',
    ]),
    '\t]',
    '',
    '',
  ]
  return `${rows.join('\n')}\n`
}

function hex(id: bigint): string {
  return `0x${id.toString(16).padStart(16, '0')}`
}
