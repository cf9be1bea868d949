import { OtlpReceiver } from '../../../test/otlp-receiver.ts'
import { testSink } from '../../../test/test-sink.ts'
import { createOtlp } from './otlp.ts'

testSink('otlp', 'push', async (t, limits) => {
  const receiver = await OtlpReceiver.start(t)
  return {
    sink: createOtlp({ url: receiver.url, ...limits }),
    peer: (behaviour) => receiver.behave(behaviour),
    // Integers of OTLP have a sign; larger values are doubles.
    held: (value) => (value < 2n ** 63n ? value : BigInt(Number(value))),
    read(type, field) {
      const metric = type.metrics.get(field)
      const points = receiver.points().filter((point) => point.metric.name === metric && point.scope === type.name)
      return points.map(({ attributes, point: { asInt, asDouble } }) => {
        return [String(attributes.device), asInt === undefined ? BigInt(asDouble ?? 0) : BigInt(asInt)] as const
      })
    },
  }
})
