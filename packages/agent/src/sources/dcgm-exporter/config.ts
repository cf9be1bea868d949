import { block, flag, integer, setting } from '@sonde/sdk/config'
import type * as v from 'valibot'
import { scrapingOptions } from '../scraping/options.ts'

/** Options of the dcgm_exporter source in `data_sources`. */
export const dcgmExporterOptions = block({
  // Enough for about 300 GPUs with their pods, or for 3000 pods. Parsing these as new series takes a tenth of this
  // processor time.
  ...scrapingOptions({ address: 'http://127.0.0.1:9400/metrics', seriesMax: 32_768, cpuMsMax: 1000 }),
  collect_interval_ms: setting(
    integer(100, 3_600_000, 'milliseconds'),
    30_000,
    'How often the exporter itself reads the GPUs (its `--collect-interval`): how old a value may be. Unit: milliseconds',
  ),
  export: setting(
    flag(),
    false,
    'Whether scraped values are in `/metrics` too; a Prometheus that scrapes exporter and agent would count power twice',
  ),
})

/** Parsed {@link dcgmExporterOptions}. */
export type DcgmExporterOptions = v.InferOutput<typeof dcgmExporterOptions>
