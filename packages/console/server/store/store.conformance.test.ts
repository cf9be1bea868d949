import { newestOf } from '../../../sdk/test/sink-records.ts'
import { testSink } from '../../../sdk/test/test-sink.ts'
import { openStore } from '../../test/open-store.ts'

testSink('store', 'view', async (t) => {
  const { store, close } = await openStore()
  t.after(close)
  const all = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, recordLimit: 1_000_000 }
  return {
    sink: store,
    read: async (type, field) => newestOf(await store.records({ type: type.name, ...all }), type, field),
  }
})
