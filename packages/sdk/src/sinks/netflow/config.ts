import * as v from 'valibot'
import { choice, flag, integer, setting } from '../../config/kit.ts'
import { type DeliveryLimits, deliveryEntries } from '../../delivery/config.ts'
import { type SocketOptions, socketEntries } from '../../delivery/connection/config.ts'
import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'
import type { FlowProtocol } from '../../wire/netflow/protocol.ts'

/** The collectors, and the form of the packets. */
export interface CollectorOptions extends Omit<SocketOptions, 'tls'> {
  /** NetFlow version 9 or IPFIX. Default: `v9`. */
  readonly protocol?: FlowProtocol
  /** Source id of NetFlow v9, observation domain of IPFIX. Range: 0 to 4 294 967 295. Default: 1. */
  readonly domainId?: number
  /** Own UDP port. Range: 1 to 65 535. Default: a free port, which is kept until the sink closes. */
  readonly localPort?: number | undefined
  /**
   * Size of a packet at most, without the headers of UDP and IP. Unit: bytes. Range: 512 to 65 507. Default: 1452, for
   * Ethernet.
   */
  readonly packetBytesMax?: number
  /** A template is sent again with the next records after so many packets. Range: 1 to 100 000. Default: 20. */
  readonly templateRefreshPackets?: number
  /**
   * A template is sent again with the next records after this time. Unit: milliseconds. Range: 1000 to 3 600 000.
   * Default: 30 000.
   */
  readonly templateRefreshMs?: number
  /** Whether texts are sent with their own length, with IPFIX. Default: false. */
  readonly variableLength?: boolean
  /** Whether the exporter sends its own counts as options with each refresh by time. Default: false. */
  readonly statistics?: boolean
}

/** Options of {@link createNetflow}: its own, and those that every push sink has. */
export interface NetflowOptions extends DeliveryLimits, PushSinkOptions, CollectorOptions {}

const { tls: _none, ...udpEntries } = socketEntries({ host: '127.0.0.1', port: 2055 })
/** A request goes out at once, so it is small beside the buffer of a collector. Unit: bytes. */
export const BATCH_BYTES_MAX = 32 << 10

/** Schema entries of {@link CollectorOptions}. */
export const collectorEntries = {
  ...udpEntries,
  protocol: setting(choice(['v9', 'ipfix']), 'v9', 'NetFlow version 9 or IPFIX'),
  domainId: setting(integer(0, 2 ** 32 - 1, 'a number'), 1, 'Source id of NetFlow v9, observation domain of IPFIX'),
  localPort: v.optional(
    v.pipe(
      integer(1, 65_535, 'a port'),
      v.description('Own UDP port. Default: a free port, which is kept until the end'),
    ),
  ),
  packetBytesMax: setting(
    integer(512, 65_507, 'bytes'),
    1452,
    'Size of a packet at most, without the headers of UDP and IP: the MTU less 28 (IPv4) or 48 (IPv6)',
  ),
  templateRefreshPackets: setting(
    integer(1, 100_000, 'packets'),
    20,
    'A template is sent again with the next records after so many packets',
  ),
  templateRefreshMs: setting(
    integer(1000, 3_600_000, 'milliseconds'),
    30_000,
    'A template is sent again with the next records after this time',
  ),
  variableLength: setting(
    flag(),
    false,
    'Whether texts are sent with their own length, with IPFIX; not every collector reads them',
  ),
  statistics: setting(
    flag(),
    false,
    'Whether the exporter sends its own counts as options, at most once in `template_refresh_ms`. nfcapd 1.7 counts each as a missing IPFIX record',
  ),
  rateLimitBytesPerSecond: setting(
    integer(1024, 2 ** 40, 'bytes a second'),
    32 << 20,
    'Bytes that are sent a second at most. A collector loses packets that come too fast, and nobody counts them',
  ),
}

/** Keys of this destination in a configuration. */
export const netflowEntries = {
  ...collectorEntries,
  ...deliveryEntries,
  batchBytesMax: setting(
    integer(4096, 1 << 20, 'bytes'),
    BATCH_BYTES_MAX,
    'Size of the records that are sent at once, before encoding: a burst',
  ),
}
