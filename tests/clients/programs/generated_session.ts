// What a generator makes of our /openapi/v2, at work: typed creates, lists, patches, deletes.
import assert from 'node:assert';
import { Api, ContentType } from './api.ts';

const { SERVER, TOKEN, NAMESPACE } = process.env as Record<string, string>;
const kubernetes = new Api({
  baseUrl: SERVER,
  baseApiParams: { secure: true, format: 'json' },
  securityWorker: () => ({ headers: { Authorization: `Bearer ${TOKEN}` } }),
});

const asJson = { type: ContentType.Json }; // the server takes `*/*`, so the generator leaves it to the caller
const made = await kubernetes.api.createCoreV1NamespacedConfigMap(NAMESPACE, {
  metadata: { name: 'settings' },
  data: { a: '1' },
}, {}, asJson);
assert.equal(made.data.metadata?.namespace, NAMESPACE);

const listed = await kubernetes.api.listCoreV1NamespacedConfigMap(NAMESPACE, { labelSelector: '!nothing', limit: 100 });
assert.ok(listed.data.items.some((each) => each.metadata?.name === 'settings'));

const patched = await kubernetes.api.patchCoreV1NamespacedConfigMap(
  'settings',
  NAMESPACE,
  { data: { b: '2' } },
  { fieldManager: 'generated' },
  { type: undefined, headers: { 'Content-Type': 'application/merge-patch+json' } },
);
assert.deepEqual(patched.data.data, { a: '1', b: '2' });

const deployment = await kubernetes.apis.createAppsV1NamespacedDeployment(NAMESPACE, {
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
}, {}, asJson);
assert.equal(deployment.data.spec?.strategy?.type, 'RollingUpdate');
const scale = await kubernetes.apis.readAppsV1NamespacedDeploymentScale('web', NAMESPACE);
assert.equal(scale.data.spec?.replicas, 1);

await kubernetes.api.deleteCoreV1NamespacedConfigMap('settings', NAMESPACE, {}, {}, asJson);
await assert.rejects(kubernetes.api.readCoreV1NamespacedConfigMap('settings', NAMESPACE), (answer: any) => answer.status === 404);
console.log('done');
