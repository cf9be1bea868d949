import type { DeliveryLimits } from '../../delivery/config.ts'
import type { OnLoss } from '../../delivery/ledger.ts'
import { SondeError } from '../../errors.ts'

/** Options of {@link createTemplate}: its own, and the limits that every push sink has. */
export interface TemplateOptions extends DeliveryLimits {
  /** Where lines are posted: `http:` or `https:`. */
  url: string
  /** Headers of each request beside `content-type`. Default: none. */
  headers?: Readonly<Record<string, string>>
  /** Name of the sink in statistics. Default: `template`. */
  name?: string
  /** Given records of `sonde_loss`. Default: drops are only counted. */
  onLoss?: OnLoss
}

/** Options with every default of the sink's own filled in; `delivery` checks the limits. */
export type TemplateConfig = Readonly<TemplateOptions & Required<Pick<TemplateOptions, 'headers' | 'name'>>>

/** @throws SondeError `TPL_OPTION` where the address is none that HTTP reaches. */
export function templateConfig(options: TemplateOptions): TemplateConfig {
  const { url, headers, name = 'template' } = options
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new SondeError('TPL_OPTION', `url is ${JSON.stringify(url)}; allowed: an address of http: or https:`)
  }
  return Object.freeze({ ...options, name, headers: { ...headers, 'content-type': 'application/x-ndjson' } })
}
