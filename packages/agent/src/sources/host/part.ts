import type { RecordType } from '@sonde/sdk'
import type { HostOptions } from './config.ts'
import type { HostReader } from './reader.ts'

/** A part of the host source, with what it keeps between sweeps. */
export interface HostPart {
  /** Reads and reports; whether anything could be read. */
  sample(time: bigint): boolean
}

/** All that is known of a part before one is made. */
export interface HostPartDefinition {
  /** Types it reports. */
  readonly types: readonly RecordType[]
  create(reader: HostReader, options: HostOptions): HostPart
}
