// The Job of tools/archive against Kubernetes' own schema: node kubernetes.mjs tools/archive/kubernetes-job.yaml
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { Job } from "kubernetes-models/batch/v1";

// A value that notes in `unread` which of its keys nobody reads: those that the schema's validators do not know.
function watched(value, unread, path = "") {
  if (typeof value !== "object" || value === null) return value;
  const inside = Array.isArray(value) ? [] : {};
  for (const key of Object.keys(value)) {
    unread.add(`${path}/${key}`);
    inside[key] = watched(value[key], unread, `${path}/${key}`);
  }
  return new Proxy(inside, {
    get(object, key) {
      unread.delete(`${path}/${String(key)}`);
      return object[key];
    },
  });
}

const check = (text) => {
  const unread = new Set();
  Job.prototype.validate.call(watched(load(text), unread));
  return [...unread];
};
const text = readFileSync(process.argv[2], "utf8");
const unknown = check(text);
if (unknown.length > 0) throw new Error(`unknown: ${unknown}`);

// The check is one.
for (const [from, to] of [["completions: 64", 'completions: "all"'], ["action: FailIndex", "actions: FailIndex"],
                          ["restartPolicy: Never", "restartPolicies: Never"], ["image: steno", "image: 7"],
                          ["backoffLimitPerIndex: 4", "backoffLimitsPerIndex: 4"]]) {
  let refused;
  try {
    refused = check(text.replace(from, to)).length > 0;
  } catch {
    refused = true;
  }
  if (!refused) throw new Error(`${to}: is accepted`);
}
