import { lookup } from 'node:dns/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { Agent } from '@sonde/agent'
import type { AgentConfig } from '@sonde/agent/config'
import type { FastifyInstance } from 'fastify'
import { hostAndPort, type ListenAddress, listenFault, listenOn, tryListener } from './listener.ts'

type Options = Pick<AgentConfig['export']['prometheus'], 'host' | 'port' | 'scrape_port'>

const LISTEN = '--listen'

/** The servers that listen. */
export interface Listeners {
  /** Address of the page and the API; also the port of scrapes in words, if it is separate. */
  readonly addresses: string
  close(): Promise<void>
}

/**
 * The addresses to listen on: that of the page and the API, and that of scrapes if it differs. If the page is open on
 * all addresses at the port of scrapes, one listener serves both.
 */
export async function listenAddresses({
  host,
  port,
  scrape_port: scrapePort,
}: Options): Promise<readonly ListenAddress[]> {
  const own = { host, port, setBy: LISTEN }
  if (scrapePort === undefined) return [own]
  const isShared = scrapePort === port && port !== 0
  if (isShared && isEverywhere(host)) return [own]
  const scrapes = { host: await everywhere(), port: scrapePort, setBy: 'export.prometheus.scrape_port' }
  return isShared ? [scrapes] : [own, scrapes]
}

/**
 * Listens for an instant on each address, and accepts no connection. A port that is in use is thus reported before
 * anything is created on disk.
 *
 * @throws SondeError `CLI_LISTEN` if an address cannot be listened on.
 */
export async function tryListeners(options: Options): Promise<void> {
  for (const place of await listenAddresses(options)) await tryListener(place)
}

/**
 * Listens for an agent. Connections at the port of scrapes are marked, so that they get metrics and health only. If the
 * page has the same port, both share one socket, because Linux gives a port of all addresses only once. A connection
 * then gets the page if it came to the address of the page.
 *
 * @throws SondeError `CLI_LISTEN` if an address cannot be listened on; then nothing listens.
 */
export async function openListeners(app: FastifyInstance, agent: Agent, options: Options): Promise<Listeners> {
  const [first, second] = (await listenAddresses(options)) as [ListenAddress, ListenAddress?]
  const isShared = first.host !== options.host
  if (isShared) await markStrangers(app.server, agent, options.host)
  await app.listen({ host: first.host, port: first.port, exclusive: true }).catch((cause: unknown) => {
    throw listenFault(cause, first)
  })
  const scrapes = second && createServer({ allowHalfOpen: true, noDelay: true }, (socket) => take(app, agent, socket))
  if (scrapes !== undefined && second !== undefined) {
    await listenOn(scrapes, second)
    markScrapes(app.server, agent, portOf(scrapes))
  }
  scrapes?.on('error', (error) => agent.options.log.error({ error }, 'a connection of scrapes was not accepted'))
  const address = `${app.server instanceof TlsServer ? 'https' : 'http'}://${hostAndPort(options.host, portOf(app.server))}`
  const scrapePort = isShared || scrapes !== undefined ? portOf(scrapes ?? app.server) : undefined
  return {
    addresses: scrapePort === undefined ? address : `${address} · metrics alone on port ${scrapePort} of all addresses`,
    async close() {
      scrapes?.close()
      await app.close()
    },
  }
}

/** Hands a connection of scrapes to the main server, so that the limits of that server apply. */
function take(app: FastifyInstance, { scrapers }: Agent, socket: Socket): void {
  scrapers.add(socket)
  app.server.emit('connection', socket)
}

/** After its handshake another socket stands for a connection. */
function markScrapes(server: Server, { scrapers }: Agent, port: number): void {
  server.on('secureConnection', (socket: Socket) => {
    if (socket.localPort === port) scrapers.add(socket)
  })
}

/** Marks connections that came to another address than that of the page. */
async function markStrangers(server: Server, { scrapers }: Agent, host: string): Promise<void> {
  const named = await lookup(host, { all: true })
  const own = new Set([...named.map(({ address }) => address), await tryListener({ host, port: 0, setBy: LISTEN })])
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (!own.has(socket.localAddress?.replace(/^::ffff:/, '') ?? '')) scrapers.add(socket)
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** All addresses of this machine; IPv4 only if the machine has no IPv6. */
async function everywhere(): Promise<string> {
  const place = { host: '::', port: 0, setBy: LISTEN }
  return tryListener(place).catch(() => '0.0.0.0')
}
