import { ForwardPeer } from '../../../test/forward-peer.ts'
import { testSink } from '../../../test/test-sink.ts'
import { createFluentBit } from './fluent-bit.ts'

testSink('fluent_bit', 'push', async (t, limits) => {
  const peer = await ForwardPeer.start(t)
  return {
    sink: createFluentBit({ port: peer.port, ...limits }),
    neverRefuses: true,
    peer: (behaviour) => peer.behave(behaviour),
    read(type, field) {
      const found = peer.events.filter(({ record }) => record.type_name === type.name && field in record)
      return new Map(found.map(({ record }) => [String(record.device), BigInt(String(record[field]))]))
    },
  }
})
