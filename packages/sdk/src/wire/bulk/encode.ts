import { createHash } from 'node:crypto'
import type { Batch } from '../../schema/batch.ts'
import { readRecord } from '../../schema/reader.ts'
import { viewsOf } from '../../schema/views.ts'
import { readableRecord } from '../log-attributes.ts'
import { recordMembers } from '../record-json.ts'
import { isoTime, timeNsOf } from '../record-time.ts'

/** Properties of the documents and of the receiver. */
export interface BulkOptions {
  /** Name of this host, for the member `host` of records that name no other. */
  readonly host: string
  /** The index of a record by its time in nanoseconds. */
  readonly indexOf: (timeNs: bigint) => string
  /**
   * Whether a document has an id that follows from its content. A document that is sent again is then refused as a
   * conflict, and is stored once.
   */
  readonly hasId: boolean
  /** The mapping type of servers before Elasticsearch 7; none if undefined. */
  readonly mappingType?: string | undefined
  /**
   * Whether the index has fields of the type `unsigned_long`. If not, values above 2^63-1 are in `left_out`: the server
   * would refuse the whole document.
   */
  readonly hasUnsigned: boolean
}

/**
 * Records as an NDJSON request for `_bulk`: a line `create`, then the document, flat as a Fluent Bit output writes it.
 * `@timestamp` is the time of the record, with up to nine decimals. Whole numbers have all their digits. A value that
 * the index cannot hold is no member: the text `left_out` has `name=value` of each. Pure.
 */
export function encodeBulk(batches: readonly Batch[], options: BulkOptions): string {
  const { host: here, indexOf, mappingType, hasUnsigned, hasId } = options
  const kind = mappingType === undefined ? '' : `,"_type":${JSON.stringify(mappingType)}`
  let body = ''
  for (const batch of batches) {
    const { type, source, count, bytes, symbols } = batch
    const { id, tag, labels, host = here } = source
    const about = { type_name: type.name, host, source: id, ...(tag === '' ? {} : { source_tag: tag }), ...labels }
    const views = viewsOf(bytes)
    for (let i = 0; i < count; i++) {
      const offset = i * type.layout.recordBytes
      const timeNs = timeNsOf(batch, views, i)
      const leftOut: string[] = []
      const record: Record<string, unknown> = {
        ...about,
        ...readableRecord(type, readRecord(type, views, offset, symbols)),
      }
      if (type.time !== undefined) delete record[type.time.name]
      const members = recordMembers(record as typeof about, leaveOut(leftOut), { isInt64: !hasUnsigned })
      const more = leftOut.length === 0 ? '' : `,"left_out":${JSON.stringify(leftOut.join(','))}`
      const document = `{"@timestamp":"${isoTime(timeNs)}",${members}${more}}`
      const id = hasId ? `,"_id":"${idOf(document)}"` : ''
      body += `{"create":{"_index":${JSON.stringify(indexOf(timeNs))}${kind}${id}}}\n${document}\n`
    }
  }
  return body
}

function idOf(document: string): string {
  return createHash('sha1').update(document).digest('base64url')
}

function leaveOut(list: string[]): (path: string, value: number | bigint) => undefined {
  return (path, value) => void list.push(`${path}=${value}`)
}
