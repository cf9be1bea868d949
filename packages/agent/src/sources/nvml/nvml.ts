import { SondeError } from '@sonde/sdk'
import type { NvmlLibrary } from '../../native/nvml/library.ts'
import { NVML_MODULE } from '../../places.ts'
import { podDeviceType, podInfoType, podShareType } from '../pods/type.ts'
import { gpuProcessType } from '../processes/type.ts'
import type { LibraryDefinition, SourceDefinition } from '../source.ts'
import { type NvmlOptions, nvmlOptions } from './config.ts'
import { nvmlExplain } from './explain.ts'
import { findNvmlLibrary } from './find-library.ts'
import {
  nvmlFabricType,
  nvmlGpuInfoType,
  nvmlGpuType,
  nvmlMigInfoType,
  nvmlMigType,
  nvmlProfileType,
  nvmlVgpuType,
  nvmlXidType,
} from './type.ts'

/** NVIDIA's management library. Calls of one GPU run one after another; calls of several GPUs run in parallel. */
const library: LibraryDefinition<NvmlLibrary> = {
  name: 'nvml',
  parallel: Number.POSITIVE_INFINITY,
  async open(_options, { nvml_library }) {
    // Only the child process imports the library: see the README of the folder.
    const { NvmlLibrary } = await import('../../native/nvml/library.ts')
    const found = findNvmlLibrary(nvml_library)
    if (typeof found === 'string') throw new SondeError('SRC_LIBRARY', found)
    return new NvmlLibrary(found.path)
  },
  labels: ({ isDouble }) => (isDouble ? { simulated: 'true' } : {}),
  // The library is not shut down, because calls may still be open. It ends with the child process.
  close: () => undefined,
}

const OF_INSTANCES = [nvmlMigType, nvmlMigInfoType, nvmlVgpuType]
const OF_PROCESSES = [podInfoType, podDeviceType, podShareType, gpuProcessType]

/**
 * Registry row of the NVML source. It runs only if the configuration names it: beside an exporter each value would be
 * there twice.
 */
export const nvml: SourceDefinition = {
  name: 'nvml',
  summary: 'NVIDIA GPUs by the management library of their driver',
  types: [nvmlGpuType, nvmlGpuInfoType, nvmlProfileType, nvmlXidType, ...OF_INSTANCES, nvmlFabricType, ...OF_PROCESSES],
  host: 'nvml',
  module: NVML_MODULE,
  intervalMs: 1000,
  options: nvmlOptions,
  isOnRequest: true,
  // Each process would be a series of its own.
  isExported: (options, type) => type !== gpuProcessType.name || (options as NvmlOptions).export_processes,
  look(_options, { nvml_library }) {
    const found = findNvmlLibrary(nvml_library)
    return typeof found === 'string' ? { state: 'absent', reason: found } : { state: 'present', found: found.path }
  },
  libraries({ nvml_library }) {
    const found = findNvmlLibrary(nvml_library)
    return typeof found === 'string' ? [] : [found.path]
  },
  explain: nvmlExplain,
  takesPodNames: true,
  async load() {
    const { NvmlSource } = await import('./source.ts')
    return { library, create: (options, context) => new NvmlSource(options as NvmlOptions, context) }
  },
}

/**
 * The sources of the child process.
 *
 * @public
 */
export const SOURCES: readonly SourceDefinition[] = [nvml]
