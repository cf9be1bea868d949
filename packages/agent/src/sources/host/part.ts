import type { RecordType } from '@sonde/sdk'
import type { PodNames } from '../processes/pod-names.ts'
import type { HostSourceOptions } from './config.ts'
import type { HostReader } from './reader.ts'

/** A part of the host source, with its state between sweeps. */
export interface HostPart {
  /** Reads and reports; returns whether anything could be read. */
  sample(time: bigint): boolean
  /** Ends work in the background. Default: there is none. */
  close?(): void
}

/** Describes a part and creates it. */
export interface HostPartDefinition {
  /** Types that the part reports. */
  readonly types: readonly RecordType[]
  create(reader: HostReader, options: HostSourceOptions, names: PodNames): HostPart
}
