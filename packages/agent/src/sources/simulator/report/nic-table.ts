import type { RecordType } from '@sonde/sdk'
import type { NicPlace } from '../classes/node-class.ts'
import type { NicReader } from '../observe/nic-reader.ts'
import type { Counter } from '../observe/nic-reading.ts'
import type { AnyColumns, Columns } from './column.ts'
import type { RowFacts } from './report-rows.ts'

/** Columns of a type with records of a NIC. */
export type NicColumns<Type extends RecordType> = Columns<Type, NicReader, Counter>

/** Numbers of the lanes of a port. */
export const LANES = [0, 1, 2, 3] as const
/** One of {@link LANES}. */
export type NicLane = (typeof LANES)[number]

/** The records of one type of all NICs. */
export interface NicTable {
  readonly type: RecordType
  readonly columns: AnyColumns<NicReader>
  /** Texts that may change, by field. */
  readonly texts?: Readonly<Record<string, (nic: NicReader) => string>>
  /** Origin of the counters. Default: `live`. */
  readonly origin?: 'live' | 'hardware' | 'netdev'
  readonly rows: readonly NicRow[]
}

/** A row of a NIC. */
export interface NicRow extends RowFacts {
  readonly nic: NicPlace
  /** Whether the port is on standby and has not counted the traffic of the active port. */
  readonly isStandby?: boolean
}

/** A port of a NIC, by its interface. */
export interface NicPort {
  readonly nic: NicPlace
  readonly netdev: string
  readonly address: string
  readonly isStandby: boolean
}

/** Ports of all NICs. */
export function portsOf(nics: readonly NicPlace[]): NicPort[] {
  return nics.flatMap((nic) => nic.ports.map((port, index): NicPort => ({ nic, ...port, isStandby: index > 0 })))
}
