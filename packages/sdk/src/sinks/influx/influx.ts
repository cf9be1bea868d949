import { hostname } from 'node:os'
import { checkOptions } from '../../config/check-options.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { HttpClient, type HttpRequest, httpRequest } from '../../delivery/connection/http-client.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import { encodeInfluxLines } from '../../wire/influx/encode.ts'
import { refuseClash } from '../refuse-clash.ts'
import { writeAddress } from './address.ts'
import { clashOfInflux, type InfluxOptions, influxTargetEntries } from './config.ts'

/**
 * Writes records to InfluxDB as line protocol.
 *
 * @throws SondeError `FLX_OPTION` for an option that is not allowed, `DLV_CONNECTION` for a file or variable that
 * cannot be read, `DLV_OPTION` for a limit out of range.
 */
export function createInflux(options: InfluxOptions): DeliverySink {
  const target = checkOptions(influxTargetEntries, options, 'FLX_OPTION', ' of influx')
  refuseClash(clashOfInflux(target), 'FLX_OPTION', ' of influx')
  checkHttp(target)
  const { unsigned: hasUnsigned = target.bucket !== undefined } = target
  const client = new HttpClient(
    {
      name: options.name ?? 'influx',
      contentType: 'text/plain; charset=utf-8',
      addressOf: (server) => writeAddress(server, target),
    },
    target,
    options.timers,
  )
  const host = hostname()
  return delivery<HttpRequest>({
    name: 'influx',
    ...options,
    encode: (batches) => httpRequest(encodeInfluxLines(batches, { host, hasUnsigned })),
    ...client.transport,
  })
}
