/** Series whose chunks of one field lie in one row: a row costs more to read than the bytes in it. */
export const GROUP_SERIES = 8

/**
 * Puts the chunks of up to {@link GROUP_SERIES} series into one row. Layout: where each ends, as u32 little-endian
 * counted from the end of this table, whose length is {@link GROUP_SERIES}; then the chunks. One that is not there ends
 * where it starts. Undefined if none is there.
 */
export function packGroup(chunks: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  const bytes = chunks.reduce((sum, chunk) => sum + (chunk?.length ?? 0), 0)
  if (bytes === 0) return undefined
  const row = new Uint8Array(TABLE_BYTES + bytes)
  const table = new DataView(row.buffer)
  let end = 0
  for (let i = 0; i < GROUP_SERIES; i++) {
    const chunk = chunks[i]
    if (chunk !== undefined) row.set(chunk, TABLE_BYTES + end)
    end += chunk?.length ?? 0
    table.setUint32(4 * i, end, true)
  }
  return row
}

/**
 * The chunk of the series with this place in its group, as a view; undefined if it is not there, `damaged` where the
 * table makes no sense.
 */
export function chunkOfGroup(row: Uint8Array, place: number): Uint8Array | undefined | 'damaged' {
  if (row.length < TABLE_BYTES) return 'damaged'
  const table = new DataView(row.buffer, row.byteOffset, TABLE_BYTES)
  const from = place === 0 ? 0 : table.getUint32(4 * (place - 1), true)
  const to = table.getUint32(4 * place, true)
  if (from > to || TABLE_BYTES + to > row.length) return 'damaged'
  return from === to ? undefined : row.subarray(TABLE_BYTES + from, TABLE_BYTES + to)
}

const TABLE_BYTES = 4 * GROUP_SERIES
