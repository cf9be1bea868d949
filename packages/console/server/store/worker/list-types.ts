import { describeType, type TypeDescription } from '@sonde/sdk/internal'
import type { StoredTypes, TypesRequest } from '../protocol.ts'
import type { StoreFile } from './store-file.ts'

/** Size of the text of all listed types. The types of the agent are among the first. Unit: characters of JSON. */
const LIST_LENGTH_LIMIT = 2 << 20

/** Lists the types with records in the file, each in its latest version. */
export function listTypes({ catalogue }: StoreFile, { except }: TypesRequest): StoredTypes {
  const wanted = new Map([...catalogue.types.values()].map(({ type }) => [type.name, type]))
  for (const name of except) wanted.delete(name)
  const types: TypeDescription[] = []
  let length = 0
  for (const type of wanted.values()) {
    const described = describeType(type)
    length += JSON.stringify(described).length
    if (length > LIST_LENGTH_LIMIT) break
    types.push(described)
  }
  return { types, leftOut: wanted.size - types.length }
}
