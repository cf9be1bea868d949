import { compact } from './compaction.ts'
import { inTransaction } from './database.ts'
import type { HeadUnit } from './head.ts'
import { hourOf } from './slots-of-time.ts'
import type { StoreFile } from './store-file.ts'

/** Records of a unit that are compacted at once; a busier hour becomes several segments. Unit: bytes. */
const COMPACT_BYTES = 64 << 20

/** Does what is due: compaction of hours that are over. A generator, so that questions get their turn in between. */
export function* maintain(file: StoreFile, nowMs: number): Generator<undefined, void> {
  const currentHour = hourOf(nowMs)
  for (const unit of file.heads.units()) {
    if (unit.hour < currentHour || unit.bytes >= COMPACT_BYTES) yield* compactUnit(file, unit)
  }
}

function* compactUnit(file: StoreFile, unit: HeadUnit): Generator<undefined, void> {
  const stored = file.catalogue.types.get(unit.type)
  const writer = file.writers.of(unit.writer)
  for (;;) {
    const { ids, rows } = file.heads.ofUnit(unit, COMPACT_BYTES)
    if (ids.length === 0) return
    const segments =
      stored === undefined || writer === undefined
        ? []
        : yield* compact(rows, stored, { id: writer.source, symbols: writer.info.symbols }, (views, offset) =>
            file.writers.resolver(writer, stored).of(views, offset, file.catalogue.addSeries),
          )
    inTransaction(file.database, () => {
      for (const segment of segments) file.segmentWriter.insert(segment)
      for (const id of ids) file.headWriter.delete(id)
    })
    yield
  }
}
