import { checkOptions } from '../../config/check-options.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { httpEntries } from '../../delivery/connection/config.ts'
import { HttpClient, type HttpRequest, httpRequest } from '../../delivery/connection/http-client.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import type { JsonlOptions } from './config.ts'
import { encodeLines } from './encode.ts'

/**
 * Posts records as JSON lines over HTTP. It is small and whole: to make another push sink, copy its folder.
 *
 * @throws SondeError `JSL_OPTION` for an option that is not allowed, `DLV_CONNECTION` for a file or variable that
 * cannot be read, `DLV_OPTION` for a limit out of range.
 */
export function createJsonl(options: JsonlOptions): DeliverySink {
  const connection = checkOptions(httpEntries, options, 'JSL_OPTION', ' of jsonl')
  checkHttp(connection)
  const { name = 'jsonl', timers } = options
  const client = new HttpClient({ name, contentType: 'application/x-ndjson' }, connection, timers)
  return delivery<HttpRequest>({
    name: 'jsonl',
    ...options,
    encode: (batches) => httpRequest(encodeLines(batches)),
    ...client.transport,
  })
}
