import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType } from '../nvml/type.ts'
import { podDeviceType, podInfoType } from '../pods/type.ts'
import type { SourceDefinition } from '../source.ts'
import { type DcgmExporterOptions, dcgmExporterOptions, INTERVAL_MS } from './config.ts'

/** Registry row of the exporters of NVIDIA: runs only where it is asked for. */
export const dcgmExporter: SourceDefinition = {
  name: 'dcgm_exporter',
  summary: 'GPUs and their pods, as exporters of NVIDIA (dcgm-exporter) tell of them',
  types: [nvmlGpuInfoType, nvmlGpuType, nvmlProfileType, nvmlMigType, podInfoType, podDeviceType],
  host: 'worker',
  intervalMs: INTERVAL_MS,
  options: dcgmExporterOptions,
  isOnRequest: true,
  isExported: (options) => (options as DcgmExporterOptions).export,
  async load() {
    const { DcgmExporterSource } = await import('./exporters.ts')
    return { create: (options, context) => new DcgmExporterSource(options as DcgmExporterOptions, context) }
  },
}
