import { boundedText, choice, dictionary, pattern, section, setting, urlPattern } from '@sonde/sdk/config'
import * as v from 'valibot'

/** Most agents of a console. Policy: further ones are left out, and the list of nodes says so. */
export const AGENT_COUNT_MAX = 1000
/** The name of an agent: a part of addresses. */
export const AGENT_NAME = /^[A-Za-z0-9_][\w.:@-]{0,99}$/

const AGENTS = `at most ${AGENT_COUNT_MAX} names of letters, digits and _ . : @ -, each with http://HOST:PORT or https://HOST:PORT`
const agentUrl = () => urlPattern(/^https?:\/\/[^\s/?#@\\]{1,260}$/, AGENTS)

function file(words: string) {
  return v.optional(v.pipe(boundedText(1, 4096), v.description(words)))
}

/** Schema of `console.agents`. */
export const agentsSection = section({
  urls: setting(
    v.pipe(
      dictionary(AGENT_NAME, agentUrl(), AGENTS),
      v.check((urls) => Object.keys(urls).length <= AGENT_COUNT_MAX, AGENTS),
    ),
    {},
    'Agents by name, such as `{gpu17: "http://10.0.0.17:9394"}`; see [access](access.md#several-nodes)',
  ),
  discovery_file: file(
    'File with agents as Prometheus reads it (`file_sd_configs`, JSON): targets are `HOST:PORT`; the label `node` is the name, else the target is. It is read again when it changes',
  ),
  dns_name: v.optional(
    v.pipe(
      pattern(
        /^(_[\w-]{1,62}\._(tcp|udp)\.[\w.-]{1,200}|[A-Za-z0-9][\w.-]{0,252}:\d{1,5})$/,
        'NAME:PORT, whose addresses are asked, or a name of SRV records such as _sonde._tcp.example.com',
      ),
      v.description(
        'Name whose addresses (A and AAAA, `NAME:PORT`) or SRV records (`_sonde._tcp.example.com`) are the agents; resolved again every 30 s',
      ),
    ),
  ),
  scheme: setting(choice(['http', 'https']), 'http', 'How agents of `discovery_file` and `dns_name` are asked'),
  token_file: file('File with the token that every agent accepts; it is read again when it changes'),
  cert_file: file('File with the certificate (PEM) that is shown to agents; `key_file` has its key'),
  key_file: file('File with the key (PEM) of `cert_file`'),
  ca_file: file('File with the certificates (PEM) that sign those of the agents. Default: those that Node trusts'),
})

/** Settings of the agents of a console after checking. */
export type AgentsConfig = v.InferOutput<typeof agentsSection>
