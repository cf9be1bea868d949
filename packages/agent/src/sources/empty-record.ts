import type { RecordOf, RecordType } from '@sonde/sdk'

/**
 * A record with all fields of its type, to be filled and reported again and again: texts are empty, numbers 0, and what
 * is optional is absent. For types without arrays. Fields that are added one by one, by names that are computed, would
 * make a hash table of the object, which takes several times as long to write and to encode.
 */
export function emptyRecord<T extends RecordType>({ layout }: T): RecordOf<T> {
  return Object.fromEntries(
    layout.slots.map(({ name, field }) => {
      const isText = field.kind === 'symbol' || field.kind === 'char'
      return [name, field.optional ? undefined : isText ? '' : 0]
    }),
  ) as RecordOf<T>
}
