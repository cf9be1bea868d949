import type { RecordOf, RecordType } from '@sonde/sdk'

/**
 * A record with all fields of its type, to be filled and reported repeatedly: texts are empty, numbers 0, and optional
 * fields are undefined. Only for types without arrays. Fields added one by one under computed names would turn the
 * object into a hash table, which is several times slower to write and to encode.
 */
export function emptyRecord<T extends RecordType>({ layout }: T): RecordOf<T> {
  return Object.fromEntries(
    layout.slots.map(({ name, field }) => {
      const isText = field.kind === 'symbol' || field.kind === 'char'
      return [name, field.optional ? undefined : isText ? '' : 0]
    }),
  ) as RecordOf<T>
}
