import type { Integer64 } from '@sonde/sdk/internal'
import { Missing } from '../field-absences.ts'
import { AerFile, type AerRow, SEVERITIES, type Severity } from './aer.ts'
import type { PciAttributes, PciRecord } from './attributes.ts'
import { readLink } from './link.ts'

/** What a root port counts of the errors that others sent it. */
const ROOT_PORT_FILES = [
  ['aer_rootport_total_err_cor', 'aer_rootport_correctable_total'],
  ['aer_rootport_total_err_nonfatal', 'aer_rootport_nonfatal_total'],
  ['aer_rootport_total_err_fatal', 'aer_rootport_fatal_total'],
] as const

/** Fields of a device that change at any time: its link as it runs, and its errors. */
export type PciStateField = Extract<keyof PciRecord, `current_link_${string}` | `aer_${string}`>

/** A record with these fields. */
export type PciStateRecord = Pick<PciRecord, PciStateField>

/** An error's count at a time, and how severe it is. */
export type PciErrorRow = AerRow & { readonly severity: Severity }

/** The file of one severity, and where its total goes. */
interface DeviceAer {
  readonly severity: Severity
  readonly name: string
  readonly field: `aer_${Severity}_total`
  readonly file: AerFile
}

/** Reads link and errors of one device into a record. */
export class PciState {
  readonly #record: PciStateRecord
  readonly #aer: readonly DeviceAer[] = SEVERITIES.map((severity) => {
    return { severity, name: `aer_dev_${severity}`, field: `aer_${severity}_total`, file: new AerFile() }
  })

  /** @param record Filled again and again. */
  constructor(record: PciStateRecord) {
    this.#record = record
  }

  /** Errors that ever had a row, by severity. */
  get shown(): readonly { readonly severity: Severity; readonly error: string }[] {
    return this.#aer.flatMap(({ severity, file }) => [...file.shown].map((error) => ({ severity, error })))
  }

  /** Reads the link as it runs; virtual functions have none. */
  readLink(attributes: PciAttributes): void {
    readLink('current', attributes, this.#record)
  }

  /** Reads the totals of errors; gives the counts by error. */
  readErrors(attributes: PciAttributes, time: bigint): PciErrorRow[] {
    const rows = this.#aer.flatMap((aer) => this.#readAer(aer, attributes, time))
    for (const [name, field] of ROOT_PORT_FILES) this.#record[field] = attributes.number(name, field)
    return rows
  }

  #readAer({ severity, name, field, file }: DeviceAer, attributes: PciAttributes, time: bigint): PciErrorRow[] {
    const { absences } = attributes
    const reading = attributes.value(name, (bytes) => file.take(bytes, time))
    if (reading instanceof Missing) {
      this.#record[field] = absences.settle<Integer64>(field, reading)
      return []
    }
    const { total, rows, fault } = reading
    const lack = fault === undefined ? undefined : attributes.wrong(name, fault)
    this.#record[field] = absences.settle(field, total ?? lack)
    return rows.map((row) => ({ ...row, severity }))
  }
}
