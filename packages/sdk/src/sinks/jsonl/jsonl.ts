import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import { httpResult } from '../../delivery/http.ts'
import { type JsonlOptions, jsonlTarget } from './config.ts'
import { encodeLines } from './encode.ts'

/**
 * Posts records as JSON lines over HTTP. It is small and whole: to make another push sink, copy its folder.
 *
 * @throws SondeError `JSL_OPTION` for an address that HTTP does not reach or a header that is none, `DLV_OPTION` for a
 * limit out of range.
 */
export function createJsonl(options: JsonlOptions): DeliverySink {
  const { url, headers, secrets } = jsonlTarget(options)
  return delivery<string>({
    name: 'jsonl',
    ...options,
    encode: encodeLines,
    // A redirect would turn the POST into a GET: it is refused instead.
    send: async (body, signal) =>
      httpResult(await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' }), secrets),
  })
}
