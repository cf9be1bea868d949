import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files of a certificate and its key, in PEM form. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A CA of a test, with the certificates that it has signed, in a folder of the test. */
export class TestCa {
  /** The file of its certificate. */
  readonly caFile: string
  readonly #folder: string
  readonly #own: CertificateFiles

  constructor(folder: string, name = 'ca') {
    this.#folder = folder
    this.#own = this.#files(name)
    this.caFile = this.#own.cert
    const form = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    openssl('req', ...form, '-subj', `/CN=${name}`, '-keyout', this.#own.key, '-out', this.#own.cert)
  }

  /** Signs a certificate for a name, such as `IP:127.0.0.1` or `DNS:localhost`. */
  sign(name: string, subject: string): CertificateFiles {
    const files = this.#files(name)
    const [request, extension] = [join(this.#folder, `${name}.csr`), join(this.#folder, `${name}.ext`)]
    const form = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    openssl('req', ...form, '-subj', `/CN=${name}`, '-keyout', files.key, '-out', request)
    writeFileSync(extension, `subjectAltName=${subject}\n`)
    const signer = ['-CA', this.#own.cert, '-CAkey', this.#own.key, '-CAcreateserial']
    openssl('x509', '-req', '-in', request, ...signer, '-days', '2', '-extfile', extension, '-out', files.cert)
    return files
  }

  #files(name: string): CertificateFiles {
    return { cert: join(this.#folder, `${name}.pem`), key: join(this.#folder, `${name}.key`) }
  }
}

function openssl(...parameters: string[]): void {
  execFileSync('openssl', parameters, { stdio: 'ignore' })
}
