// Sends the flows of the guide's sample `telemetry_netflow_export` to a collector: 23 fields, 165 bytes a record, 10
// times 100 records. Start a collector, for example `nfcapd -p 9996 -w /tmp/flows`, then run:
// npx node --conditions=source examples/netflow-export.ts [HOST PORT [v9|ipfix]]
// With `--ipc [FOLDER OF THE SOCKET]` instead, the flows go to the agent of the node, which needs `export.netflow`.

import { createSchema, defineType, element, type SchemaOptions, timestamp, uptimeMs, value, wallNs } from '@sonde/sdk'

function destination([host = '127.0.0.1', port = '9996', protocol = 'v9']: readonly string[]): Partial<SchemaOptions> {
  if (host === '--ipc') return { ipc: port === '9996' ? {} : { socketsDir: port } }
  if (protocol !== 'v9' && protocol !== 'ipfix') throw new Error(`the protocol is ${protocol}; allowed: v9, ipfix`)
  return { export: { netflow: { host, port: Number(port), protocol, domainId: 111 } } }
}

const schema = createSchema({ name: 'netflow-export', ...destination(process.argv.slice(2)) })
// The time is for other destinations. The fields with an element are the template.
const flow = schema.addType(
  defineType('netflow_sample', 'A flow of the sample', {
    time: timestamp(),
    source_ipv4: element('IPV4_SRC_ADDR'),
    destination_ipv4: element('IPV4_DST_ADDR'),
    source_ipv6: element('IPV6_SRC_ADDR'),
    destination_ipv6: element('IPV6_DST_ADDR'),
    next_hop_ipv4: element('IPV4_NEXT_HOP'),
    next_hop_ipv6: element('IPV6_NEXT_HOP'),
    input: element('INPUT_SNMP', value('u16')),
    output: element('OUTPUT_SNMP', value('u16')),
    source_port: element('L4_SRC_PORT'),
    destination_port: element('L4_DST_PORT'),
    tcp_flags: element('TCP_FLAGS'),
    protocol: element('PROTOCOL'),
    tos: element('SRC_TOS'),
    source_as: element('SRC_AS', value('u16')),
    destination_as: element('DST_AS', value('u16')),
    source_mask: element('SRC_MASK'),
    destination_mask: element('DST_MASK'),
    packets: element('IN_PKTS', value('u32')),
    bytes: element('IN_BYTES', value('u32')),
    first: element('FIRST_SWITCHED'),
    last: element('LAST_SWITCHED'),
    transaction: element('CONNECTION_TRANSACTION_ID'),
    application: element('APPLICATION_NAME'),
  }),
)
await schema.start()
const source = schema.createSource({ tag: 'netflow' })

for (let batch = 0; batch < 10; batch++) {
  for (let i = 0; i < 100; i++) {
    const last = uptimeMs()
    source.report(flow, {
      time: wallNs(),
      source_ipv4: '192.168.120.1',
      destination_ipv4: '192.168.120.2',
      source_ipv6: 'fe80::1',
      destination_ipv6: 'fe80::2',
      next_hop_ipv4: '133.133.133.133',
      next_hop_ipv6: 'fe80::3',
      input: 1,
      output: 65_535,
      source_port: 5353,
      destination_port: 8000 + i,
      tcp_flags: 0,
      protocol: 17,
      tos: 0,
      source_as: 0,
      destination_as: 0,
      source_mask: 0,
      destination_mask: 0,
      packets: 9,
      bytes: 1909,
      first: Math.max(0, last - 4545),
      last,
      transaction: batch * 100 + i,
      application: 'DOCA TELEMETRY NETFLOW EXAMPLE',
    })
  }
  await source.flush()
}

const [sink] = schema.status().sinks
console.log(`${sink?.stats.out} flows sent to ${sink?.name}`)
await schema.close()
