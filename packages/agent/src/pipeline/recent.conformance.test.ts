import { newestOf } from '../../../sdk/test/sink-records.ts'
import { testSink } from '../../../sdk/test/test-sink.ts'
import { RecentRing } from './recent.ts'

testSink('recent', 'view', () => {
  const sink = new RecentRing()
  return { sink, read: (type, field) => newestOf(sink.batches(type), type, field) }
})
