import { nvmlDoubtType, nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../nvml/type.ts'
import { podDeviceType, podInfoType, podShareType } from '../pods/type.ts'
import { refuseCredentials } from '../scraping/credentials.ts'
import { INTERVAL_MS } from '../scraping/options.ts'
import type { SourceDefinition } from '../source.ts'
import { type DcgmExporterOptions, dcgmExporterOptions } from './config.ts'
import { dcgmSeriesType } from './series-type.ts'

const NAMED_BY_DCGM = new Set([nvmlGpuType, nvmlProfileType, nvmlMigType].map(({ name }) => name))

/** Registry row of NVIDIA's dcgm-exporter: runs only on request. */
export const dcgmExporter: SourceDefinition = {
  name: 'dcgm_exporter',
  summary: 'GPUs and their pods, as exporters of NVIDIA (dcgm-exporter) tell of them',
  types: [
    ...[nvmlGpuInfoType, nvmlGpuType, nvmlProfileType, nvmlMigType, nvmlXidType, nvmlDoubtType],
    ...[podInfoType, podDeviceType, podShareType],
    dcgmSeriesType,
  ],
  host: 'worker',
  intervalMs: INTERVAL_MS,
  options: dcgmExporterOptions,
  isOnRequest: true,
  isSecondHand: true,
  isSwitched: true,
  // The exported series have the names of DCGM. Records with the same names would count every value twice.
  isExported: (options, type) => (options as DcgmExporterOptions).export && !NAMED_BY_DCGM.has(type),
  exportTypes: [dcgmSeriesType],
  refuse: async (options) => refuseCredentials(options as DcgmExporterOptions),
  async load() {
    const [{ ScrapingSource }, { Exporter }] = await Promise.all([
      import('../scraping/scraping-source.ts'),
      import('./exporter.ts'),
    ])
    return {
      create: (given, context) => {
        const options = given as DcgmExporterOptions
        context.source.changePeriod('', { sampleUs: options.collect_interval_ms * 1000 })
        return new ScrapingSource(
          options,
          context,
          (address, claims) => new Exporter(address, options, context, claims),
        )
      },
    }
  },
}
