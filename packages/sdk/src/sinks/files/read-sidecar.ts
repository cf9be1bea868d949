import { statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, SondeError } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../internal/json-reader.ts'
import { readTextFileNow } from '../../internal/text-file.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { decodeTypes } from '../../wire/dtb/decode-payload.ts'
import { schemaFingerprint } from '../../wire/dtb/encode.ts'
import { schemaFileName } from './paths.ts'

const BYTES_LIMIT = 16 << 20

/**
 * The types that files of a schema begin with, in the order of their indexes, out of the sidecar
 * `schema_<fingerprint>.json` in a folder: what `typesOf` of `DtbDecoder` asks for. Undefined if there is no such
 * file.
 *
 * @throws SondeError `DTB_SCHEMA` if the file cannot be read, or does not have the types of the schema.
 */
export function readSidecar(folder: string, fingerprint: string): readonly RecordType[] | undefined {
  const path = join(folder, schemaFileName(fingerprint))
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined
    const fault = (_kind: string, why: string) => new SondeError('DTB_SCHEMA', `it ${why}`)
    const text = readTextFileNow({ path, isOfAnybody: true, limitBytes: BYTES_LIMIT, fault })
    const sidecar = sidecarOf(text)
    const entries = decodeTypes(Buffer.from(JSON.stringify(sidecar.types ?? [])))
    const types = entries.sort(([a], [b]) => a - b).map(([, type]) => type)
    if (schemaFingerprint(types) !== fingerprint) throw new Error('it has not the types of the schema')
    // Records name their type by its index alone, which the fingerprint of the schema says nothing of.
    const isOrdered = entries.every(
      ([index, type], i) => index === i && !(type.fingerprint < (types[i - 1]?.fingerprint ?? '')),
    )
    if (!isOrdered)
      throw new Error('its types have not the indexes of the schema: from 0 on, in the order of their fingerprints')
    return types
  } catch (cause) {
    throw new SondeError('DTB_SCHEMA', `${path} does not help: ${messageOf(cause)}`, { cause })
  }
}

/** The message of the JSON parser is not used, because it quotes the file, which may be any file. */
function sidecarOf(text: string): JsonObject {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    throw new Error('it is no JSON')
  }
  if (!isJsonObject(given)) throw new Error('it is no object of JSON')
  return given
}
