import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newestOf } from '../../../sdk/test/sink-records.ts'
import { testSink } from '../../../sdk/test/test-sink.ts'
import { createStore } from './store.ts'

testSink('store', 'view', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-store-'))
  const sink = await createStore({ path: join(folder, 'store.db') })
  t.after(async () => {
    await sink.close()
    rmSync(folder, { recursive: true })
  })
  return {
    sink,
    async read(type, field) {
      const toMs = Date.now() + 60_000
      const batches = await sink.records({ type: type.name, fromMs: toMs - 600_000, toMs, recordLimit: 200_000 })
      return newestOf(batches, type, field)
    },
  }
})
