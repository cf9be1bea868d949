/** Number of series whose chunks of one field share a row: reading a row costs more than reading its bytes. */
export const GROUP_SERIES = 8

/**
 * Packs the chunks of up to {@link GROUP_SERIES} series into one row. Layout: the ends of the chunks, as u32
 * little-endian offsets from the end of this table, which has {@link GROUP_SERIES} entries; then the chunks. A missing
 * chunk ends where it starts. Undefined if all are missing.
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
 * The chunk of the series at this index of its group, as a view; undefined if it is missing, `damaged` if the table is
 * invalid.
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
