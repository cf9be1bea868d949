import type { Param, ParamEffect } from '@sonde/sdk/api'
import { type FormEvent, useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import { setParam } from '../../api/params.ts'
import { useNode } from '../../api/resources.ts'
import { Breakable } from '../../components/breakable.tsx'
import { Icon } from '../../components/icon.tsx'
import { Panel } from '../../components/panel.tsx'

/** Every parameter with its value, origin and allowed values; one at a time can be changed. */
export function ParamPanel({ params, mayChange }: { readonly params: readonly Param[]; readonly mayChange: boolean }) {
  const [open, setOpen] = useState('')
  const setCount = params.filter(({ origin }) => origin === 'set').length
  return (
    <Panel id="params" title="Parameters" caption={`${setCount} of ${params.length} set`}>
      <ul className="param-list">
        {params.map((param) => (
          <li key={param.name} className={open === param.name ? 'param is-open' : 'param'}>
            <div className="param-head">
              <span className="param-name">
                <Breakable name={param.name} />
              </span>
              <span className={param.value === '' ? 'param-value is-none' : 'param-value num'}>
                {param.value === '' ? 'none' : param.value}
              </span>
              <span className={`param-origin is-${param.origin}`}>{originWords(param)}</span>
              {mayChange && open !== param.name && (
                <button
                  type="button"
                  className="button"
                  aria-label={`Change ${param.name}`}
                  onClick={() => setOpen(param.name)}
                >
                  Change
                </button>
              )}
            </div>
            <p className="param-purpose">
              {param.purpose}. <Effect of={param.effect} />
            </p>
            {open === param.name && <ParamForm param={param} onClose={() => setOpen('')} />}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** When a change takes effect, unless it does at once. */
function Effect({ of }: { readonly of: ParamEffect }) {
  const command = useNode().data?.command ?? 'sonde'
  switch (of) {
    case 'now':
      return null
    case 'start':
      return 'Takes effect at the next start.'
    case 'render':
      return (
        <>
          Takes effect with <code className="mono">{command} manifests gpu-stack</code>.
        </>
      )
    case 'none':
      return 'This version does not know it.'
  }
}

function originWords({ origin, setBy = '' }: Param): string {
  if (origin === 'set') return `set by ${setBy}`
  return origin === 'file' ? 'from the configuration' : 'default'
}

function ParamForm({ param, onClose }: { readonly param: Param; readonly onClose: () => void }) {
  const { name, allowed, fallback, origin } = param
  const isFlag = allowed === 'true or false'
  const [value, setValue] = useState(param.value.includes('(secret)') ? '' : param.value)
  const [fault, setFault] = useState('')
  const [isSent, setIsSent] = useState(false)
  const send = async (next: string): Promise<void> => {
    setIsSent(true)
    try {
      await setParam(name, next)
      onClose()
    } catch (error) {
      setFault((error as ApiError).message)
      setIsSent(false)
    }
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void send(value)
  }
  const field = { id: `param-${name}`, 'aria-invalid': fault !== '', 'aria-describedby': `param-fault-${name}` }
  return (
    <form className="param-form" onSubmit={submit}>
      <label className="field" htmlFor={field.id}>
        New value
      </label>
      {isFlag ? (
        <select className="input" {...field} value={value} onChange={({ target }) => setValue(target.value)}>
          <option>true</option>
          <option>false</option>
        </select>
      ) : (
        <input
          className="input param-input"
          {...field}
          value={value}
          placeholder={allowed}
          spellCheck={false}
          onChange={({ target }) => setValue(target.value)}
        />
      )}
      <button type="submit" className="button is-primary" disabled={isSent || value === ''}>
        Save
      </button>
      {origin === 'set' && (
        <button type="button" className="button" disabled={isSent} onClick={() => void send('')}>
          Default{fallback === '' ? '' : `: ${fallback}`}
        </button>
      )}
      <button type="button" className="button" onClick={onClose}>
        Cancel
      </button>
      <p id={field['aria-describedby']} className={fault === '' ? 'param-hint' : 'param-fault'} role="alert">
        {fault === '' ? (
          `Allowed: ${allowed}.`
        ) : (
          <>
            <Icon name="critical" /> {fault}
          </>
        )}
      </p>
    </form>
  )
}
