import { integer, setting } from '@sonde/sdk/config'
import { devicesOption } from '../device-filter.ts'
import type { Probe, SourcePaths } from '../source.ts'
import { findDocaLibrary } from './find-library.ts'

/** Name of the host of all DOCA sources. */
export const DOCA_HOST = 'doca'

/** Options that all DOCA sources have. */
export const docaEntries = {
  devices: devicesOption,
  stuck_ms: setting(
    integer(50, 60_000, 'milliseconds'),
    2000,
    'A device that does not answer for longer is stuck; the other devices are still read',
  ),
}

/** Options that all DOCA sources have, after validation. */
export interface DocaOptions {
  /** Names of devices, of their interfaces, or PCI addresses; see {@link devicesOption}. */
  readonly devices: readonly string[]
  readonly stuck_ms: number
}

/** Returns the paths of the libraries; none if they are not installed. */
export function docaLibraries({ doca_library: configured }: SourcePaths): readonly string[] {
  const found = findDocaLibrary(configured)
  return typeof found === 'string' ? [] : [found.telemetry, found.common]
}

/** Finds the libraries without loading them. */
export function lookForDoca(_options: object, { doca_library: configured }: SourcePaths): Probe {
  const found = findDocaLibrary(configured)
  return typeof found === 'string' ? { state: 'absent', reason: found } : { state: 'present', found: found.telemetry }
}
