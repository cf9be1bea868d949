import { type FormEvent, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { login } from '../api/session.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Icon } from '../components/icon.tsx'

const COMMAND = 'sonde tokens add NAME --role viewer'

/** Asks for a token, in place of everything else. The address stays, and is there after the login. */
export function LoginPage() {
  const [token, setToken] = useState('')
  const [fault, setFault] = useState('')
  const [isSent, setIsSent] = useState(false)
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setIsSent(true)
    setFault('')
    try {
      await login(token.trim())
    } catch (error) {
      setFault(wordsOf(error))
      setIsSent(false)
    }
  }
  return (
    <main className="login">
      <form className="panel login-form" onSubmit={send}>
        <h1 className="page-title">Log in to Sonde</h1>
        <p className="login-place">{location.host}</p>
        <label className="login-field">
          Token
          <input
            className="input"
            type="password"
            name="token"
            autoComplete="current-password"
            spellCheck={false}
            value={token}
            onChange={({ target }) => setToken(target.value)}
            aria-invalid={fault !== ''}
            aria-describedby="login-fault"
            required
          />
        </label>
        <p id="login-fault" className="login-fault" role="alert">
          {fault !== '' && (
            <>
              <Icon name="critical" /> {fault}
            </>
          )}
        </p>
        <button type="submit" className="button is-primary" disabled={isSent || token.trim() === ''}>
          {isSent ? 'Logging in…' : 'Log in'}
        </button>
        <div className="login-help">
          <p>To get a token, ask the person who runs this server. The command there:</p>
          <div className="login-command">
            <code>{COMMAND}</code>
            <CopyButton label="Copy" text={() => COMMAND} />
          </div>
        </div>
      </form>
    </main>
  )
}

function wordsOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The page itself failed. Load it again.'
  switch (error.code) {
    case 'ACC_TOKEN':
      return 'This token is unknown or has expired.'
    case 'ACC_WAIT':
      return `Too many wrong tokens came from your address. ${sentence(error.message.replace(/^.*; /, ''))}`
    default:
      return sentence(error.message)
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`
}
