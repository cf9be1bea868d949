import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import { httpResult } from '../../delivery/http.ts'
import { type TemplateOptions, templateConfig } from './config.ts'
import { encodeLines } from './encode.ts'

/**
 * A push sink that is small and whole: copy the folder, and change what it encodes and how it sends.
 *
 * @throws SondeError `TPL_OPTION` for an address that HTTP does not reach, `DLV_OPTION` for a limit out of range.
 */
export function createTemplate(options: TemplateOptions): DeliverySink {
  const { url, headers, ...rest } = templateConfig(options)
  return delivery<string>({
    ...rest,
    encode: encodeLines,
    // A redirect would turn the POST into a GET: it is refused instead.
    send: async (body, signal) =>
      httpResult(await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })),
  })
}
