import { isIP } from 'node:net'
import { block, boundedText, choice, flag, integer, list, pattern, section, setting } from '@sonde/sdk/config'
import * as v from 'valibot'

const HEADER = /^[A-Za-z0-9-]{1,64}$/

/** An address, or a network such as 10.0.0.0/8. */
const network = () =>
  v.pipe(
    v.string(),
    v.check((text) => {
      const [address = '', bits, more] = text.split('/')
      const family = isIP(address)
      if (family === 0 || more !== undefined) return false
      return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
    }, 'an address such as 10.0.0.5, or a network such as 10.0.0.0/8'),
  )

function pemFile(words: string) {
  return v.optional(v.pipe(boundedText(1, 4096), v.description(`${words}; read again when it changes`)))
}

const groups = () => list(boundedText(1, 256), 64, 'groups')

/** Schema of `access`: who may use the page and the API. */
export const accessSchema = block({
  required: setting(
    flag(),
    false,
    'Whether this machine needs a login too. Others always need one: a server that listens beyond loopback asks for it',
  ),
  dir: v.optional(
    v.pipe(
      boundedText(),
      v.description('Folder of tokens and of the log of changes. Default: `access` in the data folder, `store.dir`'),
    ),
  ),
  session_hours: setting(
    integer(1, 720, 'hours'),
    12,
    'How long a login of the page lasts; two hours without use end it',
  ),
  allow_private_urls: setting(
    flag(),
    false,
    'Whether a URL that is set as a parameter may lead to loopback and private addresses. Those of this file always may',
  ),
  tls: section({
    cert_file: pemFile('File with the certificate (PEM) of the server, and those between it and its root'),
    key_file: pemFile('File with the key (PEM) of `cert_file`'),
    client_ca_file: pemFile('File with the certificates (PEM) that sign those of clients. Default: none is asked for'),
    client_role: setting(
      choice(['viewer', 'operator', 'admin']),
      'viewer',
      'Role of a client whose certificate `client_ca_file` signs, such as a console',
    ),
  }),
  proxy: section({
    peers: setting(
      list(network(), 64, 'addresses'),
      [],
      'Addresses or networks of proxies that name the user. With one, this machine needs a login too; headers from elsewhere do not count',
    ),
    user_header: setting(
      pattern(HEADER, 'the name of a header'),
      'x-forwarded-user',
      'Header with the name of the user',
    ),
    groups_header: setting(
      pattern(HEADER, 'the name of a header'),
      'x-forwarded-groups',
      'Header with the groups of the user',
    ),
    groups_separator: setting(boundedText(1, 8), ',', 'Text between two groups'),
    viewers: setting(groups(), [], 'Groups whose users may look; `*` is every user'),
    operators: setting(groups(), [], 'Groups whose users may change parameters and acknowledge'),
    admins: setting(groups(), [], 'Groups whose users may see the log of changes, too'),
  }),
})

/** Settings of access after checking. */
export type AccessConfig = v.InferOutput<typeof accessSchema>
