import { hostname } from 'node:os'
import { checkOptions } from '../../config/check-options.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { HttpClient, type HttpRequest, httpRequest } from '../../delivery/connection/http-client.ts'
import type { HttpAnswer } from '../../delivery/connection/http-endpoint.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import type { RefusedRecords, SendResult } from '../../delivery/sender.ts'
import { type BulkFault, readBulkAnswer } from '../../wire/bulk/answer.ts'
import { type BulkOptions, encodeBulk } from '../../wire/bulk/encode.ts'
import { isoTime } from '../../wire/record-time.ts'
import { type EsOptions, esTargetEntries } from './config.ts'

/** Room for an error in each item of a request with the default limits. Unit: bytes. */
const ANSWER_BYTES_MAX = 8 << 20
/** The parts of an answer that are used. */
const FILTER = 'errors,items.*.status,items.*.error'

/**
 * Writes records as documents to Elasticsearch or OpenSearch, with `_bulk`.
 *
 * @throws SondeError `ELS_OPTION` for an option that is not allowed, `DLV_CONNECTION` for a file or variable that
 * cannot be read, `DLV_OPTION` for a limit out of range.
 */
export function createEs(options: EsOptions): DeliverySink {
  const target = checkOptions(esTargetEntries, options, 'ELS_OPTION', ' of es')
  checkHttp(target)
  /** Records of each batch of a request, to find the record of a document. */
  const counts = new WeakMap<HttpRequest, readonly number[]>()
  const client = new HttpClient(
    {
      name: options.name ?? 'es',
      contentType: 'application/x-ndjson',
      addressOf: bulkAddress,
      answerBytesMax: ANSWER_BYTES_MAX,
      resultOf: (answer, request) => resultOfBulk(answer, counts.get(request) ?? []),
    },
    target,
    options.timers,
  )
  const { index, logstashFormat, logstashPrefix, suppressTypeName, generateId: hasId, unsigned: hasUnsigned } = target
  const bulk: BulkOptions = {
    host: hostname(),
    indexOf: logstashFormat
      ? (ns) => `${logstashPrefix}-${isoTime(ns).slice(0, 10).replaceAll('-', '.')}`
      : () => index,
    mappingType: suppressTypeName ? undefined : '_doc',
    hasId,
    hasUnsigned,
  }
  return delivery<HttpRequest>({
    name: 'es',
    ...options,
    encode(batches) {
      const request = httpRequest(encodeBulk(batches, bulk))
      counts.set(
        request,
        batches.map(({ count }) => count),
      )
      return request
    },
    ...client.transport,
  })
}

function bulkAddress(server: URL): URL {
  const address = new URL(server)
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/_bulk`
  address.searchParams.set('filter_path', FILTER)
  return address
}

/** A 200 says only that the request was read: each document has a status of its own. */
function resultOfBulk({ text, isWhole }: HttpAnswer, counts: readonly number[]): SendResult {
  if (!isWhole)
    return { outcome: 'retry', reason: `the answer is longer than ${ANSWER_BYTES_MAX} bytes; lower batch_records_max` }
  const documents = counts.reduce((sum, count) => sum + count, 0)
  const answer = readBulkAnswer(text, documents)
  if (answer === undefined) return { outcome: 'retry', reason: 'the answer is none to _bulk' }
  const { faults } = answer
  const later = faults.find(({ isTransient }) => isTransient)
  if (later !== undefined) return { outcome: 'retry', reason: later.reason }
  return faults.length === 0 ? { outcome: 'ok' } : { outcome: 'partial', refused: refusedOf(faults, counts) }
}

/** The records of documents, in the batches of the request. */
function refusedOf(faults: readonly BulkFault[], counts: readonly number[]): RefusedRecords[] {
  let batch = 0
  let start = 0
  return faults.map(({ index, reason }) => {
    while (index >= start + (counts[batch] ?? 0)) start += counts[batch++] ?? 0
    return { batch, records: [index - start], reason }
  })
}
